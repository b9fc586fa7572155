package servertest

import (
	"bytes"
	"sync"
)

// LogBuffer collects log lines for a test, which can read them while the program still writes.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *LogBuffer) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *LogBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
