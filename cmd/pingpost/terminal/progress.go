package terminal

import (
	"fmt"
	"os"
	"time"
)

// Progress is a line on a terminal that each update overwrites. Without a terminal it
// writes no output.
type Progress struct {
	file  *os.File // nil without a terminal
	shown time.Time
	last  string
}

// progressInterval is the least time between two updates.
const progressInterval = 100 * time.Millisecond

// NewProgress returns a progress line that is shown on file if file is a terminal.
func NewProgress(file *os.File) *Progress {
	if !CanShowProgress(file) {
		return &Progress{}
	}
	return &Progress{file: file}
}

// Show replaces the text of the progress line. It skips updates that come too fast.
func (p *Progress) Show(text string) {
	p.last = text
	if now := time.Now(); p.file != nil && now.Sub(p.shown) >= progressInterval {
		p.shown = now
		fmt.Fprintf(p.file, "\r\x1b[K%.79s", text)
	}
}

// End removes the progress line from the terminal.
func (p *Progress) End() {
	if p.file != nil && p.last != "" {
		fmt.Fprint(p.file, "\r\x1b[K")
	}
}

// CanShowProgress reports whether a file is a character device, such as a terminal, and TERM is not
// dumb. It is false for the null device, although that is a character device.
func CanShowProgress(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// HasTerminal reports whether Show writes to a terminal.
func (p *Progress) HasTerminal() bool { return p.file != nil }
