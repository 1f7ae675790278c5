package settings

// Ingestion configures how files are imported.
type Ingestion struct {
	Router              string         `yaml:"router" oneof:"on shadow off" doc:"shadow only records what it would do with a file; off ignores the import folder."`
	KeepOriginal        string         `yaml:"keep_original" oneof:"bundle done delete" doc:"Where an imported file goes: into its bundle, to a Done folder, or nowhere. delete keeps a file in its bundle if not all of it was read, or there is a warning about it."`
	Template            string         `yaml:"template" doc:"Note in the vault that is the template of imported notes, such as Templates/Import.md; docs/ingestion.md lists its placeholders. Empty: the built-in layout."`
	Worker              string         `yaml:"worker" env:"VAULTFLOW_WORKER" doc:"Path of vaultflow-worker. Empty: next to vaultflow, else found in PATH."`
	Tessdata            string         `yaml:"tessdata" doc:"Folder of Tesseract's language data. Empty: the usual places."`
	Passwords           []Secret       `yaml:"passwords" doc:"Passwords to try on encrypted PDF files. Better set VAULTFLOW_INGESTION_PASSWORDS than write them here, or put one into a file name.pdf.password next to name.pdf."`
	RequireConfinement  bool           `yaml:"require_confinement" doc:"Refuse documents if the system cannot confine the worker."`
	PageTimeout         Duration       `yaml:"page_timeout" min:"1s" max:"1h" doc:"Processor time for one page; by the clock, six times that. It is then tried once more at half the dpi before it fails."`
	OpenTimeout         Duration       `yaml:"open_timeout" min:"1s" max:"1h" doc:"Processor time to open a document; by the clock, six times that."`
	Memory              Bytes          `yaml:"memory" min:"256MiB" max:"256GiB" doc:"Memory of one worker process."`
	Parallel            int            `yaml:"parallel" min:"0" max:"64" doc:"Worker processes for one document. 0: one for each processor."`
	MaxFileSize         Bytes          `yaml:"max_file_size" min:"1KiB" max:"64GiB" doc:"Larger files are refused."`
	Remote              RemoteImport   `yaml:"remote" doc:"Documents that vaultflow import fetches from the web. Hosts and redirects follow policy.remote_images."`
	PDF                 PDF            `yaml:"pdf" doc:"PDF files."`
	Image               ImageIngestion `yaml:"image" doc:"Picture files."`
	Office              Office         `yaml:"office" doc:"Word processor files, presentations and spreadsheets."`
	OCR                 OCR            `yaml:"ocr" doc:"Reading text from pictures."`
	Vision              string         `yaml:"vision" oneof:"off doubtful all" doc:"Pages of PDF files and pictures that the model in ocr.model reads again, in the page's picture: none, those whose text is doubtful, or all. Its answer replaces the text only if it has the words and numbers that readers found on the page. Needs max_cost_usd_per_import."`
	MaxCostUSDPerImport float64        `yaml:"max_cost_usd_per_import" min:"0" max:"100000" doc:"What vision may cost for one import, together with its recognition services. The remaining pages keep their text. 0: not set; vision must be off."`
	Audio               Audio          `yaml:"audio" doc:"Recordings of speech. A service writes down what is said; without one they are kept as they are."`
}

// RemoteImport bounds what `import https://…` fetches.
type RemoteImport struct {
	MaxSize Bytes    `yaml:"max_size" min:"1KiB" max:"256MiB" doc:"Larger documents are refused."`
	Timeout Duration `yaml:"timeout" min:"1s" max:"1h" doc:"For one document with all its redirects."`
}

// PDF configures how PDF files are imported.
type PDF struct {
	Mode        string   `yaml:"mode" oneof:"hybrid markdown page_images" doc:"hybrid keeps text and a picture of each page, markdown the text alone, page_images the pictures alone."`
	DPI         int      `yaml:"dpi" min:"36" max:"600" doc:"Resolution of the page pictures."`
	MaxSide     int      `yaml:"max_side" min:"100" max:"20000" doc:"Longest side of a page picture in pixels."`
	MaxPixels   int64    `yaml:"max_pixels" min:"10000" max:"400000000" doc:"Pixels of a page picture, width times height."`
	ImageFormat string   `yaml:"image_format" oneof:"auto png jpeg" doc:"auto: PNG for text and graphics, JPEG for photographs."`
	Renderer    string   `yaml:"renderer" oneof:"auto mupdf pdfium" doc:"auto: MuPDF, but PDFium for pages with form fields, annotations or Asian text without its fonts, for files with a password, and where MuPDF fails. MuPDF does not draw form values or annotations."`
	Strategies  []string `yaml:"strategies" oneof:"pdf_text pdf_ocr" doc:"Ways to get the text of a page, in the order to try them."`
	InlinePages int      `yaml:"inline_pages" min:"0" max:"10000" doc:"A document of up to this many pages is in one note; a longer one has a note for each chapter."`
	WarnPages   int      `yaml:"warn_pages" min:"1" max:"100000" doc:"More pages than this cause a warning. Nothing is cut off."`
	MaxPages    int      `yaml:"max_pages" min:"1" max:"100000" doc:"Files with more pages are refused."`
}

// ImageIngestion configures how picture files are imported.
type ImageIngestion struct {
	Strategies []string `yaml:"strategies" oneof:"image_ocr image_copy" doc:"image_ocr reads the text of the picture, image_copy only keeps the picture. The first that works is used."`
}

// Office configures how LibreOffice helps with office files. Their text is read without it.
type Office struct {
	LibreOffice string   `yaml:"libreoffice" doc:"LibreOffice draws the pages of office files and reads doc, xls, ppt and rtf. auto: the one that is installed; off: none; anything else is the path of soffice."`
	Timeout     Duration `yaml:"timeout" min:"1s" max:"1h" doc:"Time for one conversion."`
	MaxPages    int      `yaml:"max_pages" min:"1" max:"5000" doc:"At most this many pages of a file get pictures. All of the text is read."`
}

// OCR configures how text is read from pictures.
type OCR struct {
	Languages     []string   `yaml:"languages" doc:"auto: the language of each page is found out, among the installed ones. Or languages as Tesseract names them, such as eng, deu, nor; several for pages that mix them. vaultflow doctor lists the installed ones."`
	DPI           int        `yaml:"dpi" min:"72" max:"600" doc:"Resolution at which text is read."`
	MinConfidence float64    `yaml:"min_confidence" min:"0" max:"100" doc:"Pages below this percentage are listed in the note."`
	Words         bool       `yaml:"words" doc:"Keep words with their boxes in ocr/page_0001.json."`
	Engines       []string   `yaml:"engines" oneof:"tesseract mistral model" doc:"Text recognition, in the order to try: tesseract runs on this machine; mistral and model send a picture of the page to a service and may cost money. The next one is tried if one fails or has no key."`
	Mistral       MistralOCR `yaml:"mistral" doc:"Mistral's text recognition. It uses the key of the provider mistral."`
	Model         string     `yaml:"model" doc:"For the engine model: alias of a model with vision. Empty: the default model."`
	RetainImages  bool       `yaml:"retain_ocr_images" doc:"Keep the pictures that an OCR service cuts out of a page, in assets/."`
}

// MistralOCR configures Mistral's text recognition.
type MistralOCR struct {
	Model        string   `yaml:"model" doc:"Mistral's name for the model."`
	Endpoint     Address  `yaml:"endpoint" doc:"Address with /v1. Empty: the base_url of the provider mistral."`
	Timeout      Duration `yaml:"timeout" min:"1s" max:"1h" doc:"For one page."`
	PricePerPage float64  `yaml:"price_per_page" min:"0" max:"1000" doc:"US dollars, to show what imports cost. 0: unknown."`
}

// Audio configures the service that writes down what is said in recordings.
type Audio struct {
	Provider       string   `yaml:"provider" doc:"Name of a provider that offers /audio/transcriptions as OpenAI does: openai_responses, groq, or a local server of Whisper below providers with kind openai_compatible. Recordings are sent to it. Empty: none."`
	Model          string   `yaml:"model" doc:"The service's name of the model, such as whisper-large-v3. Models whose names begin with gpt- report no times."`
	Language       string   `yaml:"language" doc:"Language of the recordings, such as en or de. Empty: the service finds out."`
	MaxRequest     Bytes    `yaml:"max_request" min:"64KiB" max:"2GiB" doc:"The most that the service takes at once. Longer WAV and MP3 files are sent in parts; others are kept without their text."`
	Timeout        Duration `yaml:"timeout" min:"1s" max:"1d" doc:"For one part."`
	PricePerMinute float64  `yaml:"price_per_minute" min:"0" max:"1000" doc:"US dollars, so that imports tell what they cost. 0: not known, or nothing for a server on this machine."`
}
