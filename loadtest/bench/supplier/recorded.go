package supplier

import (
	"errors"
	"io"

	"pingpost/engine/event"
	"pingpost/wal"
)

// CountMissing counts the leads that the log in a data directory does not have exactly once. It also returns
// the number of the log's last entry.
func CountMissing(dataDir string, leads []Acknowledgment) (missing int, last uint64, err error) {
	recorded, last, err := countEvents(dataDir)
	if err != nil {
		return 0, 0, err
	}
	for i := range leads {
		if recorded[leads[i].Lead] != 1 {
			missing++
		}
	}
	return missing, last, nil
}

// countEvents counts the decisions about each lead in a log.
func countEvents(dataDir string) (leads map[string]int, last uint64, err error) {
	reader, err := wal.NewReader(dataDir, 0)
	if err != nil {
		return nil, 0, err
	}
	defer reader.Close()
	leads = map[string]int{}
	var decoder event.Decoder
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return leads, last, nil
		}
		if err != nil {
			return nil, 0, err
		}
		last = entry.Seq
		record, err := decoder.Decode(entry.Data)
		if err != nil {
			return nil, 0, err
		}
		if decided, ok := record.(*event.LeadDecided); ok {
			leads[decided.Lead.String()]++
		}
	}
}
