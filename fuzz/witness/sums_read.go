//go:build unix

package witness

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// readSums reads the report of an exchange; caught: it has to have come to where the log
// is just now. It is nil where the report is not ready to be read.
func (s *Scene) readSums(caught bool) (told *sums) {
	s.t.Helper()
	now := s.Hash().Seq
	Await(s.t, "the report has come to where the log was", func() bool {
		if end := s.Ended(); end != "" {
			s.t.Fatal(end)
		}
		told = s.askSums()
		return !caught || told != nil && told.entry >= now
	})
	return told
}

func (s *Scene) askSums() *sums {
	day := func(from int) string { return time.Now().UTC().AddDate(0, 0, from).Format(time.DateOnly) }
	status, text, header, err := s.Office.ask("GET", "report?by=buyer&format=ndjson&from="+day(-3)+"&to="+day(3), nil)
	if err != nil || status == http.StatusServiceUnavailable {
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	entry, err := strconv.ParseUint(header.Get("X-Report-Entry"), 10, 64)
	if status != http.StatusOK || err != nil {
		s.t.Errorf("the report was answered %d %s %v", status, text, err)
		return nil
	}
	told := &sums{entry: entry, buyers: map[string]summed{}}
	for line := range strings.Lines(string(text)) {
		var row summed
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			s.t.Errorf("the report has the row %q: %v", line, err)
			return nil
		}
		told.buyers[row.Buyer] = row
	}
	return told
}
