package main

import (
	"fmt"
	"os"
	"time"
)

// progress is a line on a terminal that is written over and over. Where there
// is no terminal nothing is shown.
type progress struct {
	file  *os.File // nil: no terminal
	shown time.Time
	last  string
}

// progressEvery is how often the line changes.
const progressEvery = 100 * time.Millisecond

func newProgress(file *os.File) *progress {
	if !isTerminal(file) {
		return &progress{}
	}
	return &progress{file: file}
}

func (p *progress) show(text string) {
	p.last = text
	if now := time.Now(); p.file != nil && now.Sub(p.shown) >= progressEvery {
		p.shown = now
		fmt.Fprintf(p.file, "\r\x1b[K%.79s", text)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.file != nil && p.last != "" {
		fmt.Fprint(p.file, "\r\x1b[K")
	}
}

// isTerminal tells whether somebody looks. The null device is no terminal,
// though it is one of characters.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
