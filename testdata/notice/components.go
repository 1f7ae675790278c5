package main

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed texts
var standard embed.FS

const (
	fitz   = "github.com/gen2brain/go-fitz"
	pdfium = "github.com/klippa-app/go-pdfium"
	avif   = "github.com/gen2brain/avif"
	heic   = "github.com/gen2brain/heic"
	sqlite = "modernc.org/sqlite"
)

// The files of modules that hold other people's compiled code.
const (
	mupdfFile  = "libs/libmupdf_linux_amd64.a"
	thirdFile  = "libs/libmupdfthird_linux_amd64.a"
	pdfiumFile = "webassembly/pdfium.wasm"
	avifFile   = "lib/avif.wasm.gz"
	heicFile   = "lib/heif.wasm.gz"
)

// table lists what modules embed: compiled code (WebAssembly, static libraries, C that was translated) and fonts. Versions are
// those that the module's build files name; "as of" is written where those name a branch. Update it when a module changes: a test compares
// the version here with go.mod.
var table = []struct {
	module, at string // module and the version that was looked at
	file       string
	parts      []part
}{
	{fitz, "v1.28.1", mupdfFile, []part{
		{Name: "MuPDF", Version: "1.28.0", Licences: []string{"AGPL-3.0-or-later"}, Copyright: "Copyright (C) 2004-2026 Artifex Software, Inc."},
		{Name: "MuPDF fonts: Nimbus, Dingbats, Standard Symbols", Licences: []string{"AGPL-3.0-or-later"}, Copyright: "Copyright (URW)++, Copyright 2014 by (URW)++ Design & Development"},
		{Name: "MuPDF fonts: Charis SIL", Licences: []string{"OFL-1.1"}, Copyright: "Copyright (c) 1997-2022, SIL International"},
	}},
	{fitz, "v1.28.1", thirdFile, []part{
		{Name: "cmark-gfm", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright (c) 2014, John MacFarlane"},
		{Name: "extract", Licences: []string{"AGPL-3.0-or-later"}, Copyright: "Copyright (C) Artifex Software, Inc."},
		{Name: "FreeType", Licences: []string{"FTL"}, Copyright: "Portions of this software are copyright (C) 2026 The FreeType Project (www.freetype.org). All rights reserved."},
		{Name: "gumbo-parser", Licences: []string{"Apache-2.0"}, Copyright: "Copyright 2010, 2011 Google"},
		{Name: "HarfBuzz", Version: "13.0.1", Licences: []string{"HPND"}, Copyright: "Copyright (C) 2010-2022 Google, Inc.; 2005-2023 Behdad Esfahbod; 2004-2023 Red Hat, Inc.; and others"},
		{Name: "jbig2dec", Licences: []string{"AGPL-3.0-or-later"}, Copyright: "Copyright (C) 2001-2026 Artifex Software, Inc."},
		{Name: "lcms2mt", Licences: []string{"MIT"}, Copyright: "Copyright (c) 1998-2023 Marti Maria Saguer"},
		{Name: "libjpeg", Licences: []string{"IJG"}, Copyright: "This software is based in part on the work of the Independent JPEG Group. Copyright (C) 1991-2026, Thomas G. Lane, Guido Vollbeding"},
		{Name: "MuJS", Licences: []string{"ISC"}, Copyright: "Copyright (c) 2013-2026 Artifex Software, Inc."},
		{Name: "OpenJPEG", Version: "2.5.4", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright (c) 2002-2014, Universite catholique de Louvain (UCL), Belgium; Professor Benoit Macq; and others"},
		{Name: "zlib", Version: "1.3.2", Licences: []string{"Zlib"}, Copyright: "Copyright (C) 1995-2026 Jean-loup Gailly and Mark Adler"},
	}},
	{pdfium, "v1.19.8", pdfiumFile, []part{
		{Name: "PDFium", Version: "chromium/7961", Licences: []string{"Apache-2.0", "BSD-3-Clause"}, Copyright: "Copyright 2014 The PDFium Authors"},
		{Name: "Abseil", Licences: []string{"Apache-2.0"}, Copyright: "Copyright The Abseil Authors"},
		{Name: "Anti-Grain Geometry", Version: "2.3", Licences: []string{"HPND"}, Copyright: "Copyright (C) 2002-2005 Maxim Shemanarev (http://www.antigrain.com)"},
		{Name: "FreeType", Licences: []string{"FTL"}, Copyright: "Portions of this software are copyright (C) 2026 The FreeType Project (www.freetype.org). All rights reserved."},
		{Name: "ICU", Licences: []string{"Unicode-3.0"}, Copyright: "Copyright (C) 1991-2026 Unicode, Inc."},
		{Name: "Little CMS", Licences: []string{"MIT"}, Copyright: "Copyright (c) 1998-2023 Marti Maria Saguer"},
		{Name: "libjpeg-turbo", Licences: []string{"BSD-3-Clause", "IJG"}, Copyright: "This software is based in part on the work of the Independent JPEG Group. Copyright (C) 2009-2026 D. R. Commander"},
		{Name: "libpng", Licences: []string{"Libpng"}, Copyright: "Copyright (c) 1995-2026 The PNG Reference Library Authors"},
		{Name: "libtiff", Licences: []string{"libtiff"}, Copyright: "Copyright (c) 1988-1997 Sam Leffler; Copyright (c) 1991-1997 Silicon Graphics, Inc."},
		{Name: "OpenJPEG", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright (c) 2002-2014, Universite catholique de Louvain (UCL), Belgium; Professor Benoit Macq; and others"},
		{Name: "zlib", Licences: []string{"Zlib"}, Copyright: "Copyright (C) 1995-2026 Jean-loup Gailly and Mark Adler"},
		{Name: "Emscripten's C library (musl)", Licences: []string{"MIT"}, Copyright: "Copyright (c) 2005-2020 Rich Felker, et al.; Copyright (c) 2010-2014 Emscripten authors"},
	}},
	{avif, "v0.5.3", avifFile, []part{
		{Name: "libavif", Version: "1.4.2", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright 2019 Joe Drago"},
		{Name: "dav1d", Version: "1.5.3", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright (C) 2018-2026, VideoLAN and dav1d authors"},
		{Name: "libaom", Version: "3.14.1", Licences: []string{"BSD-2-Clause"}, Copyright: "Copyright (c) 2016, Alliance for Open Media"},
		{Name: "libyuv", Version: "stable", Licences: []string{"BSD-3-Clause"}, Copyright: "Copyright 2011 The LibYuv Project Authors"},
		{Name: "wasi-libc (musl)", Licences: []string{"MIT"}, Copyright: "Copyright (c) 2005-2020 Rich Felker, et al."},
	}},
	{heic, "v0.4.5", heicFile, []part{
		{Name: "libheif", Version: "1.18.2", Licences: []string{"LGPL-3.0-or-later"}, Copyright: "Copyright (c) 2017-2024 Dirk Farin"},
		{Name: "libde265", Version: "1.0.15", Licences: []string{"LGPL-3.0-or-later"}, Copyright: "Copyright (c) 2013-2024 Dirk Farin"},
		{Name: "wasi-libc (musl)", Licences: []string{"MIT"}, Copyright: "Copyright (c) 2005-2020 Rich Felker, et al."},
	}},
	{sqlite, "v1.60.1", "", []part{
		{Name: "SQLite (translated to Go)", Licences: []string{"blessing"}, Copyright: "in the public domain"},
	}},
}

// components are the parts of the table, with the digests of their files. Licence texts come from the modules where they have
// them, and from the folder texts.
func components(_ string, modules []part) ([]part, error) {
	var list []part
	for _, row := range table {
		i := slices.IndexFunc(modules, func(m part) bool { return m.Name == row.module })
		switch {
		case i < 0:
			return nil, fmt.Errorf("testdata/notice/components.go: no binary is built of %s any more", row.module)
		case modules[i].Version != row.at:
			return nil, fmt.Errorf("testdata/notice/components.go: %s is at %s, the table was made for %s; look at what it embeds now", row.module, modules[i].Version, row.at)
		}
		dir, err := output("go", "list", "-m", "-f", "{{.Dir}}", row.module)
		if err != nil {
			return nil, err
		}
		digest := ""
		if row.file != "" {
			if digest, err = digestOf(filepath.Join(strings.TrimSpace(dir), filepath.FromSlash(row.file))); err != nil {
				return nil, err
			}
		}
		for _, p := range row.parts {
			p.Within, p.File, p.Digest, p.In = row.module, row.file, digest, modules[i].In
			if p.Texts, err = standardTexts(p.Licences, modules); err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// standardTexts are the texts of licences without names.
func standardTexts(licences []string, modules []part) ([]string, error) {
	var list []string
	for _, l := range licences {
		switch l {
		case "blessing":
			continue
		case "Apache-2.0", "AGPL-3.0-or-later": // long ones, which modules have
			i := slices.IndexFunc(modules, func(m part) bool { return slices.Equal(m.Licences, []string{l}) })
			if i < 0 {
				return nil, fmt.Errorf("no module has the text of %s", l)
			}
			list = append(list, modules[i].Texts[0])
			continue
		}
		data, err := standard.ReadFile("texts/" + l + ".txt")
		if err != nil {
			return nil, err
		}
		list = append(list, tidy(string(data)))
	}
	return list, nil
}
