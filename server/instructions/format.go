package instructions

import (
	"encoding/json"
	"fmt"
	"time"
)

// File is a rendered document.
type File struct {
	ContentType string
	Name        string // for a download; empty: the client shows it
	Policy      string // Content-Security-Policy; empty: none
	Body        []byte
}

// Formats lists the names of the formats, for error messages.
const Formats = "json, md, html or pdf"

// Render returns the document in the format json, md, html or pdf. ok is false for another format.
// links are at the top of a page. now is the time in the metadata of a PDF file.
func (d *Document) Render(format string, links []PageLink, now time.Time) (file File, ok bool, err error) {
	switch format {
	case "json":
		body, err := json.Marshal(d)
		if err != nil {
			return file, true, fmt.Errorf("cannot encode the posting instructions: %w", err)
		}
		return File{ContentType: "application/json", Body: append(body, '\n')}, true, nil
	case "md":
		return File{ContentType: "text/markdown; charset=utf-8", Name: d.fileName("md"), Body: d.AppendMarkdown(nil)}, true, nil
	case "html":
		return File{ContentType: "text/html; charset=utf-8", Policy: PagePolicy, Body: d.AppendHTML(nil, links)}, true, nil
	case "pdf":
		body, err := d.PDF(now)
		return File{ContentType: "application/pdf", Name: d.fileName("pdf"), Body: body}, true, err
	}
	return file, false, nil
}
