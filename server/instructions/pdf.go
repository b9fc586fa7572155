package instructions

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-pdf/fpdf"
)

// Sizes in millimetres and points, for paper of the size A4.
const (
	pdfMargin   = 15.0
	pdfWidth    = 210 - 2*pdfMargin
	pdfLine     = 5.0
	pdfCodeLine = 4.0
	pdfTextSize = 10.0
	pdfCodeSize = 8.0
)

// pdfWriter writes a document as PDF with the fonts that each reader has. These have the letters of
// Western Europe; another letter, for example in a name, becomes a dot.
type pdfWriter struct {
	*fpdf.Fpdf
	encode func(string) string
}

// PDF returns the document as a PDF file. created is the time in its metadata.
func (d *Document) PDF(created time.Time) ([]byte, error) {
	w := &pdfWriter{Fpdf: fpdf.New("P", "mm", "A4", "")}
	w.encode = w.UnicodeTranslatorFromDescriptor("")
	w.SetCatalogSort(true) // equal documents give equal bytes
	w.SetCreationDate(created)
	w.SetModificationDate(created)
	w.SetTitle(d.Title(), true)
	w.SetMargins(pdfMargin, pdfMargin, pdfMargin)
	w.SetAutoPageBreak(true, pdfMargin)
	w.SetFooterFunc(func() {
		w.SetY(-12)
		w.SetFont("Helvetica", "", 8)
		w.CellFormat(0, 5, fmt.Sprintf("Page %d", w.PageNo()), "", 0, "C", false, 0, "")
	})
	w.AddPage()
	w.writeText("B", 16, 8, d.Title())
	for _, s := range d.Sections() {
		w.Ln(3)
		w.writeText("B", 13, 8, s.Title)
		for i := range s.Blocks {
			w.writeBlock(&s.Blocks[i])
			w.Ln(1.5)
		}
	}
	var b bytes.Buffer
	if err := w.Output(&b); err != nil {
		return nil, fmt.Errorf("cannot write the posting instructions as PDF: %w", err)
	}
	return b.Bytes(), nil
}

// writeText writes a paragraph over the whole width.
func (w *pdfWriter) writeText(style string, size, lineHeight float64, text string) {
	w.SetFont("Helvetica", style, size)
	w.MultiCell(0, lineHeight, w.encode(text), "", "L", false)
}

func (w *pdfWriter) writeBlock(x *Block) {
	switch {
	case x.Table != nil:
		w.writeTable(x.Table)
	case x.Code != nil:
		w.writeText("I", pdfTextSize, pdfLine, x.Code.Caption)
		w.SetFont("Courier", "", pdfCodeSize)
		w.SetFillColor(242, 242, 242)
		w.MultiCell(0, pdfCodeLine, w.encode(x.Code.Text), "", "L", true)
	case x.List != nil:
		for _, item := range x.List {
			w.writeText("", pdfTextSize, pdfLine, "- "+item)
		}
	default:
		w.writeText("", pdfTextSize, pdfLine, x.Text)
	}
}

// columnWidths are the widths of the tables' columns in parts of the page, by number of columns.
var columnWidths = map[int][]float64{2: {0.35, 0.65}, 4: {0.09, 0.22, 0.12, 0.57}, 5: {0.2, 0.1, 0.1, 0.36, 0.24}}

func (w *pdfWriter) writeTable(t *Table) {
	widths := columnWidths[len(t.Head)]
	if t.Head[0] != "" {
		w.writeTableRow(widths, t.Head, func(int) (font, style string) { return "Helvetica", "B" })
	}
	for _, row := range t.Rows {
		w.writeTableRow(widths, row, func(column int) (font, style string) {
			if t.Mono[column] {
				return "Courier", ""
			}
			return "Helvetica", ""
		})
	}
}

// writeTableRow writes cells side by side. It begins a new page if the row does not fit on this one.
// A cell that is higher than a page is cut.
func (w *pdfWriter) writeTableRow(widths []float64, cells []string, fontOf func(column int) (font, style string)) {
	const cellLine = 4.0
	lines := make([][]string, len(cells))
	height := cellLine
	_, pageHeight := w.GetPageSize()
	maxLines := int((pageHeight-2*pdfMargin)/cellLine) - 1
	for i, cell := range cells {
		font, style := fontOf(i)
		w.SetFont(font, style, pdfCodeSize)
		for _, line := range w.SplitLines([]byte(w.encode(cell)), widths[i]*pdfWidth) {
			lines[i] = append(lines[i], string(line))
		}
		lines[i] = lines[i][:min(len(lines[i]), maxLines)]
		height = max(height, cellLine*float64(len(lines[i])))
	}
	if w.GetY()+height > pageHeight-pdfMargin {
		w.AddPage()
	}
	x, y := pdfMargin, w.GetY()
	for i := range cells {
		font, style := fontOf(i)
		w.SetFont(font, style, pdfCodeSize)
		for n, line := range lines[i] {
			w.SetXY(x, y+cellLine*float64(n))
			w.CellFormat(widths[i]*pdfWidth, cellLine, line, "", 0, "L", false, 0, "")
		}
		x += widths[i] * pdfWidth
	}
	w.Line(pdfMargin, y+height+0.5, pdfMargin+pdfWidth, y+height+0.5)
	w.SetXY(pdfMargin, y+height+1)
}
