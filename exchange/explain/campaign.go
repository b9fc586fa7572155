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

// campaignConfig is the part of a campaign's configuration that an explanation needs, as
// of one version. known is false if that version is unavailable.
type campaignConfig struct {
	known  bool
	method string
	buyers []string // by filter set
	zip    string   // name of the field with the ZIP code

	reasons map[string]bool // the configured reasons for a return; empty if any text is allowed
}

// zipField is the buyers' name of the ZIP code field, and the suppliers' name without a
// mapping.
const zipField = "zip"

// buyerOfFilterSet returns the buyer of a filter set, or "" if it is unknown.
func (l *campaignConfig) buyerOfFilterSet(filterSet uint32) string {
	if int(filterSet) < len(l.buyers) {
		return l.buyers[filterSet]
	}
	return ""
}

// readCampaignConfig reads a campaign from the stored document of a configuration version. The
// document lists the filter sets in their order. seq is an entry of the log that was
// decided under that version.
func (e *Explainer) readCampaignConfig(version uint32, campaign string, seq uint64) campaignConfig {
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
			for _, filterSet := range c.Buyers {
				found.buyers = append(found.buyers, filterSet.Buyer)
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

// documentHash returns the hash of a configuration version's document. It is "" if the log
// no longer has the event that set the version.
//
// Versions increase along the log, and every decision names its own. So the search bisects
// the segments for the first one that uses the version. The event is in that segment or
// shortly before it. Decisions in flight end under the version that they began with.
// Around a change the versions may therefore alternate for some seconds, so the search
// also reads a few segments backwards.
func (e *Explainer) documentHash(version uint32, seq uint64) string {
	if now := e.state.CurrentConfigVersion(); now.Version == version {
		return now.Document
	}
	segments, err := wal.Segments(e.dataDir)
	if err != nil {
		return ""
	}
	segments = segments[:sort.Search(len(segments), func(i int) bool { return segments[i].First > seq })]
	firstUse := sort.Search(len(segments), func(i int) bool { return e.configVersionAt(segments[i].First) >= version })
	for i := min(firstUse, len(segments)-1); i >= max(0, firstUse-alternatingSegments); i-- {
		until := seq
		if i+1 < len(segments) {
			until = segments[i+1].First - 1
		}
		if hash := e.findDocumentHash(segments[i].First, until, version); hash != "" {
			return hash
		}
	}
	return ""
}

const (
	alternatingSegments = 16   // segments in which versions may alternate after a change
	maxUnversioned      = 4096 // consecutive entries that may name no version
)

// configVersionAt returns the version that the first event at or after an entry names, or zero.
func (e *Explainer) configVersionAt(first uint64) (version uint32) {
	e.forEachEvent(first, first+maxUnversioned, func(ev event.Event) bool {
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

// findDocumentHash returns the hash of the document that became a version between two
// entries of the log, or "".
func (e *Explainer) findDocumentHash(first, last uint64, version uint32) (hash string) {
	e.forEachEvent(first, last, func(ev event.Event) bool {
		if set, ok := ev.(*event.CatalogSet); ok && set.Version == version {
			hash = string(append([]byte(nil), set.Document...))
		}
		return hash == ""
	})
	return hash
}

// forEachEvent passes the events between two entries to visit, until visit returns false
// or an entry cannot be read. The event is valid only during the call.
func (e *Explainer) forEachEvent(first, last uint64, visit func(event.Event) bool) {
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
		if err != nil || !visit(ev) {
			return
		}
	}
}
