package explain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sort"

	"pingpost/engine/event"
	"pingpost/wal"
)

// lineup is a campaign's as a version of the configuration had it. One that is not
// known is of a configuration that cannot be had.
type campaignConfig struct {
	known  bool
	method string
	buyers []string // by seat
	zip    string   // the field that has the ZIP code

	reasons map[string]bool // for which a lead may be returned; empty: any
}

// zipField is what buyers call the field, and suppliers too where no mapping says
// otherwise.
const zipField = "zip"

func (l *campaignConfig) buyerAt(seat uint32) string {
	if int(seat) < len(l.buyers) {
		return l.buyers[seat]
	}
	return ""
}

// lineup reads a campaign out of the document of a version, whose seats stand
// there in the lineup's order. seq is of a fact that was decided by it.
func (e *Explainer) campaignConfig(version uint32, campaign string, seq uint64) campaignConfig {
	hash := e.documentHash(version, seq)
	text, err := os.ReadFile(filepath.Join(e.dataDir, "catalogs", hash+".json"))
	if sum := sha256.Sum256(text); err != nil || hex.EncodeToString(sum[:]) != hash {
		return campaignConfig{}
	}
	var document struct {
		Campaigns []struct {
			ID     string `json:"id"`
			Method string `json:"method"`
			Buyers []struct {
				Buyer string `json:"buyer"`
			} `json:"buyers"`
			Fields []struct {
				Name string `json:"name"`
				To   string `json:"to"`
			} `json:"fields"`
			Returns struct {
				Reasons []string `json:"reasons"`
			} `json:"returns"`
		} `json:"campaigns"`
	}
	if json.Unmarshal(text, &document) != nil {
		return campaignConfig{}
	}
	for i := range document.Campaigns {
		if c := &document.Campaigns[i]; c.ID == campaign {
			found := campaignConfig{known: true, method: c.Method, zip: zipField, reasons: make(map[string]bool)}
			for _, reason := range c.Returns.Reasons {
				found.reasons[reason] = true
			}
			for _, seat := range c.Buyers {
				found.buyers = append(found.buyers, seat.Buyer)
			}
			for _, field := range c.Fields {
				if field.To == zipField {
					found.zip = field.Name
				}
			}
			return found
		}
	}
	return campaignConfig{}
}

// documentOf is the hash of a version's document; empty where history no longer
// holds the fact that put it into force.
//
// Versions count up along the log, and every decision names its own. So the fact
// is looked for by bisection over the segments: at or shortly before the first
// one in which the version is in use. Decisions in flight end under the version
// they began with, so around a change the versions may alternate for some seconds,
// and a few segments are read backwards.
func (e *Explainer) documentHash(version uint32, seq uint64) string {
	if now := e.state.Catalog(); now.Version == version {
		return now.Document
	}
	segments, err := wal.Segments(e.dataDir)
	if err != nil {
		return ""
	}
	segments = segments[:sort.Search(len(segments), func(i int) bool { return segments[i].First > seq })]
	use := sort.Search(len(segments), func(i int) bool { return e.versionAt(segments[i].First) >= version })
	for i := min(use, len(segments)-1); i >= max(0, use-changeover); i-- {
		until := seq
		if i+1 < len(segments) {
			until = segments[i+1].First - 1
		}
		if hash := e.documentHashIn(segments[i].First, until, version); hash != "" {
			return hash
		}
	}
	return ""
}

const (
	changeover  = 16   // segments in which versions may alternate
	unversioned = 4096 // entries that may follow each other without a word of their version
)

// versionAt is the version that the first fact at or after an entry tells, or zero.
func (e *Explainer) versionAt(first uint64) (version uint32) {
	e.forEachEvent(first, first+unversioned, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.LeadDecided:
			version = ev.Catalog
		case *event.AuctionHeld:
			version = ev.Catalog
		case *event.CatalogSet:
			version = ev.Version
		}
		return version == 0
	})
	return version
}

// documentIn is the hash of the document that was put into force as a version in
// a stretch of the log, or empty.
func (e *Explainer) documentHashIn(first, last uint64, version uint32) (hash string) {
	e.forEachEvent(first, last, func(ev event.Event) bool {
		if set, ok := ev.(*event.CatalogSet); ok && set.Version == version {
			hash = string(append([]byte(nil), set.Document...))
		}
		return hash == ""
	})
	return hash
}

// facts takes a stretch of the log, as far as it can be read.
func (e *Explainer) forEachEvent(first, last uint64, take func(event.Event) bool) {
	reader, err := e.log.NewReader(first)
	if err != nil {
		return
	}
	defer reader.Close()
	decoder := event.Decoder{ForReplay: true}
	for {
		next, err := reader.Next()
		if errors.Is(err, io.EOF) || err != nil || next.Seq > last {
			return
		}
		ev, err := decoder.Decode(next.Data)
		if err != nil || !take(ev) {
			return
		}
	}
}
