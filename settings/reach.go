package settings

// reach is what a value in the vault's files can do, and so how it counts.
type reach int

const (
	// harmless values count: they start, connect to, listen on and name nothing outside the vault.
	harmless reach = iota + 1
	// waits until the user grants it.
	waits
	// follows something else that waits: an alias its provider.
	follows
	// least: the smaller of the vault's and the user's own.
	least
	// bounded is like least, but 0 means no bound.
	bounded
	// most: the larger of the vault's and the user's own.
	most
	// either: true wins.
	either
	// union of the vault's list and the one below it.
	union
)

// reaches says for each key what the vault's files may do with it. Entries of tables have * for their name. A test fails for a
// key that is missing here.
var reaches = map[string]reach{
	"models.default":                     follows,
	"models.aliases.*.provider":          follows,
	"models.aliases.*.model":             harmless,
	"models.aliases.*.capabilities":      harmless,
	"models.aliases.*.context_window":    harmless,
	"models.aliases.*.max_output_tokens": harmless,
	"models.aliases.*.price":             waits, // where somebody else has set a cap on costs: a price of 0 lifts it
	"models.aliases.*.temperature":       harmless,
	"models.aliases.*.limits":            harmless,
	"models.aliases.*.thinking":          harmless,
	"models.aliases.*.citations":         harmless,

	"providers.*.kind":                waits,
	"providers.*.base_url":            waits,
	"providers.*.api_key_env":         waits,
	"providers.*.api_key":             waits,
	"providers.*.headers":             waits,
	"providers.*.proxy":               waits,
	"providers.*.region":              waits,
	"providers.*.profile":             waits,
	"providers.*.access_key_id":       waits,
	"providers.*.secret_access_key":   waits,
	"providers.*.session_token":       waits,
	"providers.*.project":             waits,
	"providers.*.location":            waits,
	"providers.*.credentials_file":    waits,
	"providers.*.timeout":             harmless,
	"providers.*.idle_timeout":        harmless,
	"providers.*.connect_timeout":     harmless,
	"providers.*.num_ctx":             harmless,
	"providers.*.max_concurrency":     bounded,
	"providers.*.requests_per_minute": bounded,
	"providers.*.tokens_per_minute":   bounded,

	"vault.workflows_dir":   harmless, // names within the vault; hidden ones and overlapping ones are refused
	"vault.import_dir":      harmless,
	"vault.imported_dir":    harmless,
	"vault.ignore":          union,
	"vault.quiet_period":    harmless,
	"vault.hold_period":     harmless,
	"vault.stall_period":    harmless,
	"vault.rescan_interval": harmless,
	"vault.watch":           harmless,

	"llm.overflow_fallback": harmless,

	"engine.timezone":                    harmless,
	"engine.max_parallel_runs":           least,
	"engine.run_timeout":                 bounded,
	"engine.max_selected_files":          least,
	"engine.auto_buffer_tokens":          harmless,
	"engine.memory":                      bounded,
	"engine.status_note":                 harmless, // the note's writer keeps what others wrote in it
	"engine.retention.runs":              most,
	"engine.retention.runs_per_workflow": most,
	"engine.retention.contents":          most,

	"ingestion.router":                     harmless,
	"ingestion.keep_original":              waits, // to delete a file that was read
	"ingestion.template":                   harmless,
	"ingestion.worker":                     waits,
	"ingestion.tessdata":                   waits,
	"ingestion.passwords":                  harmless,
	"ingestion.require_confinement":        either,
	"ingestion.page_timeout":               least,
	"ingestion.open_timeout":               least,
	"ingestion.memory":                     least,
	"ingestion.parallel":                   bounded,
	"ingestion.max_file_size":              least,
	"ingestion.remote.max_size":            least,
	"ingestion.remote.timeout":             harmless,
	"ingestion.pdf.mode":                   harmless,
	"ingestion.pdf.dpi":                    harmless,
	"ingestion.pdf.max_side":               harmless,
	"ingestion.pdf.max_pixels":             least,
	"ingestion.pdf.image_format":           harmless,
	"ingestion.pdf.renderer":               harmless,
	"ingestion.pdf.strategies":             harmless,
	"ingestion.pdf.inline_pages":           harmless,
	"ingestion.pdf.warn_pages":             harmless,
	"ingestion.pdf.max_pages":              least,
	"ingestion.image.strategies":           harmless,
	"ingestion.office.libreoffice":         waits,
	"ingestion.office.timeout":             harmless,
	"ingestion.office.max_pages":           least,
	"ingestion.ocr.languages":              harmless,
	"ingestion.ocr.dpi":                    harmless,
	"ingestion.ocr.min_confidence":         harmless,
	"ingestion.ocr.words":                  harmless,
	"ingestion.ocr.engines":                waits, // mistral and model; tesseract does not
	"ingestion.ocr.mistral.model":          waits,
	"ingestion.ocr.mistral.endpoint":       waits,
	"ingestion.ocr.mistral.timeout":        harmless,
	"ingestion.ocr.mistral.price_per_page": waits,
	"ingestion.ocr.model":                  waits,
	"ingestion.ocr.retain_ocr_images":      harmless,
	"ingestion.vision":                     waits,
	"ingestion.max_cost_usd_per_import":    bounded,
	"ingestion.audio.provider":             waits,
	"ingestion.audio.model":                waits,
	"ingestion.audio.language":             harmless,
	"ingestion.audio.max_request":          harmless,
	"ingestion.audio.timeout":              harmless,
	"ingestion.audio.price_per_minute":     waits,

	"policy.budget.max_images":                 least,
	"policy.budget.max_image_mb":               least,
	"policy.budget.max_total_mb":               least,
	"policy.budget.max_image_pixels":           least,
	"policy.budget.min_image_side":             harmless,
	"policy.budget.max_decode_pixels":          least,
	"policy.budget.max_pages":                  least,
	"policy.budget.max_prompt_tokens":          bounded,
	"policy.budget.max_tool_images":            least,
	"policy.budget.max_step_images":            least,
	"policy.budget.max_cost_usd":               bounded,
	"policy.budget.max_total_tokens":           bounded,
	"policy.budget.max_cost_usd_per_run":       bounded,
	"policy.budget.max_total_tokens_per_run":   bounded,
	"policy.budget.max_cost_usd_per_day":       bounded,
	"policy.budget.max_total_tokens_per_day":   bounded,
	"policy.budget.max_cost_usd_per_month":     bounded,
	"policy.budget.max_total_tokens_per_month": bounded,
	"policy.budget.when_exceeded":              harmless,
	"policy.budget.min_page_dpi":               harmless,
	"policy.budget.max_fallback_tokens":        least,
	"policy.links":                             harmless,
	"policy.untrusted":                         union,
	"policy.untrusted_properties":              union,
	"policy.remote_images.enabled":             waits,
	"policy.remote_images.allow":               waits,
	"policy.remote_images.deny":                union,
	"policy.remote_images.max_mb":              least,
	"policy.remote_images.timeout":             harmless,
	"policy.remote_images.max_redirects":       least,
	"policy.remote_images.max_per_step":        least,

	"web_fetch.allow":         waits,
	"web_fetch.deny":          union,
	"web_fetch.max_size":      least,
	"web_fetch.timeout":       harmless,
	"web_fetch.max_redirects": least,

	"web_search.provider":    waits,
	"web_search.base_url":    waits,
	"web_search.api_key_env": waits,
	"web_search.api_key":     waits,
	"web_search.max_results": harmless,
	"web_search.timeout":     harmless,

	"mcp_servers.*.command":  waits,
	"mcp_servers.*.url":      waits,
	"mcp_servers.*.env":      waits,
	"mcp_servers.*.env_from": waits,
	"mcp_servers.*.headers":  waits,
	"mcp_servers.*.allow":    waits,
	"mcp_servers.*.deny":     union,
	"mcp_servers.*.timeout":  harmless,

	"watch.debounce": harmless,

	"vaults": waits,

	"web.listen":            waits,
	"web.token":             waits,
	"web.hosts":             waits,
	"web.proxy.trust":       waits,
	"web.proxy.user_header": waits,

	"logging.level":  harmless,
	"logging.format": harmless,
}

// units are sections whose waiting keys count together: granted one by one, an address of today and a key of tomorrow would
// make a pair that nobody has said yes to.
var units = []string{"web_search", "ingestion.ocr.mistral", "ingestion.audio"}

// safe are values of keys that wait which reach nowhere.
var safe = map[string][]string{
	"policy.remote_images.enabled": {"false"}, "ingestion.office.libreoffice": {"off"}, "web_search.provider": {"none"}, "ingestion.ocr.engines": {"tesseract"}, "ingestion.vision": {"off"},
	"ingestion.keep_original": {"bundle", "done"},
}

// emptyIsAll are lists that let everything through when they are empty.
var emptyIsAll = map[string]bool{"policy.remote_images.allow": true, "web_fetch.allow": true}
