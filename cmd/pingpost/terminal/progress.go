package terminal

import (
	"fmt"
	"os"
	"time"
)

// Progress is a line on a terminal that each update overwrites. Without a terminal it
// writes no output.
type Progress struct {
	file  *os.File  // nil without a terminal
	began time.Time // of the first call of ShowPercentAndTimeLeft
	shown time.Time
	last  string
}

// progressInterval is the least time between two updates.
const progressInterval = 100 * time.Millisecond

// NewProgress returns a progress line that is shown on file if file is a terminal.
func NewProgress(file *os.File) *Progress {
	if !IsTerminal(file) {
		return &Progress{}
	}
	return &Progress{file: file}
}

// ShowThrottled replaces the text of the progress line. It skips updates that come too fast.
func (p *Progress) ShowThrottled(text string) {
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

// IsTerminal reports whether a file is a character device, such as a terminal, and TERM is not dumb.
// It is false for the null device, although that is a character device.
func IsTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// ShowPercentAndTimeLeft shows how much of a long task is done, in percent, and an estimate of the time
// left. done and total have the same unit. The estimate assumes the average speed since the first call.
func (p *Progress) ShowPercentAndTimeLeft(task string, done, total int64) {
	now := time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	if total <= 0 {
		p.ShowThrottled(task)
		return
	}
	share := min(1, float64(done)/float64(total))
	text := fmt.Sprintf("%s  %.0f %%", task, 100*share)
	if took := now.Sub(p.began); share > 0 && took >= time.Second {
		left := time.Duration(float64(took) * (1 - share) / share)
		text += "  " + left.Round(time.Second).String() + " left"
	}
	p.ShowThrottled(text)
}

// HasTerminal reports whether the progress line is shown on a terminal.
func (p *Progress) HasTerminal() bool { return p.file != nil }
