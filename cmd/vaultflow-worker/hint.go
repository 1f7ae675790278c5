package main

// buildHint is printed by a program without the libraries. The linker flag keeps MuPDF's libjpeg from taking the place
// of the system's, which would make Tesseract fail on every JPEG without a word.
const buildHint = `this vaultflow-worker was built without MuPDF and Tesseract. Build it with
  CGO_ENABLED=1 CGO_LDFLAGS=-Wl,--exclude-libs,ALL go build -tags worker,nodynamic -o bin/vaultflow-worker ./cmd/vaultflow-worker
(or make build). It needs a C compiler, libtesseract-dev, libleptonica-dev and tesseract-ocr-eng.`
