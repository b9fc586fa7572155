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

	"pingpost/config"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/numbering"
	"pingpost/wal"
)

// campaignConfigOfVersion is a campaign's configuration in one version of the catalog, reduced to the
// parts that an explanation shows. known is false if that version's document is unavailable or lacks
// the campaign.
type campaignConfigOfVersion struct {
	known  bool
	method string
	sets   []filterSetID
	zip    string // name of the field with the ZIP code

	reasons map[string]bool // the configured reasons for a return; empty if any text is allowed

	compiled *market.Campaign // with permanent numbers; nil if this version of the program cannot compile the document
}

// zipField is the name of the ZIP code field that buyers get. Suppliers use the same name
// unless the campaign maps another field to it.
const zipField = "zip"

// filterSetID has the ids of a filter set's buyer and of the filter set itself, which may be empty.
type filterSetID struct {
	Buyer string `json:"buyer"`
	ID    string `json:"id"`
}

// filterSetAt returns the ids of the filter set with this number, or empty ids if it is unknown.
func (l *campaignConfigOfVersion) filterSetAt(number uint32) filterSetID {
	if int(number) < len(l.sets) {
		return l.sets[number]
	}
	return filterSetID{}
}

// readCampaignConfig reads a campaign's configuration from the stored document of a catalog
// version. decidedAtSeq is the number of a log entry that was decided under that version; the
// search for the document starts there. If the document is missing or damaged, or has no such campaign,
// the result's known is false.
func (e *Explainer) readCampaignConfig(catalogVersion uint32, campaignID string, decidedAtSeq uint64) campaignConfigOfVersion {
	hash := e.searchConfigDocumentHash(catalogVersion, decidedAtSeq)
	text, err := os.ReadFile(filepath.Join(e.DataDir, "catalogs", hash+".json"))
	if sum := sha256.Sum256(text); err != nil || hex.EncodeToString(sum[:]) != hash {
		return campaignConfigOfVersion{}
	}
	var document struct {
		Campaigns []struct {
			ID     string        `json:"id"`
			Method string        `json:"method"`
			Buyers []filterSetID `json:"buyers"`
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
		return campaignConfigOfVersion{}
	}
	for i := range document.Campaigns {
		if c := &document.Campaigns[i]; c.ID == campaignID {
			found := campaignConfigOfVersion{known: true, method: c.Method, zip: zipField, reasons: make(map[string]bool)}
			found.compiled = e.activeOrCompiledCampaign(catalogVersion, text, market.CampaignID(campaignID))
			for _, reason := range c.Returns.Reasons {
				found.reasons[reason] = true
			}
			found.sets = c.Buyers
			for _, field := range c.Fields {
				if field.To == zipField {
					found.zip = field.Name
				}
			}
			return found
		}
	}
	return campaignConfigOfVersion{}
}

// activeOrCompiledCampaign returns a campaign of a configuration version, from the active catalog or compiled
// from the version's document. It returns nil if the document does not compile, or if it has a name
// or a cap without a permanent number.
func (e *Explainer) activeOrCompiledCampaign(catalogVersion uint32, document []byte, id market.CampaignID) *market.Campaign {
	if e.ActiveCatalog != nil {
		if active := e.ActiveCatalog(); active != nil && active.Version == catalogVersion {
			return active.Campaigns[id]
		}
	}
	parsed, err := config.ParseStoredDocument(document)
	if err != nil {
		return nil
	}
	built, err := parsed.Compile()
	if err != nil || len(numbering.AssignConfigObjectNumbers(e.State, built.Catalog)) > 0 {
		return nil
	}
	return built.Catalog.Campaigns[id]
}

// searchConfigDocumentHash returns the hash of a configuration version's document. It is "" if the log
// no longer has the event that set the version.
//
// Versions increase along the log, and every decision names its own. So the search bisects
// the segments for the first one that uses the version. The event is in that segment or
// shortly before it. Decisions in flight end under the version that they began with.
// Around a change the versions may therefore alternate for some seconds, so the search
// also reads a few segments backwards.
func (e *Explainer) searchConfigDocumentHash(configVersion uint32, decidedAtSeq uint64) string {
	if now := e.State.CurrentConfigVersion(); now.Version == configVersion {
		return now.Document
	}
	segments, err := wal.Segments(e.DataDir)
	if err != nil {
		return ""
	}
	segments = segments[:sort.Search(len(segments), func(i int) bool { return segments[i].First > decidedAtSeq })]
	firstUse := sort.Search(len(segments), func(i int) bool { return e.configVersionOfFirstEventFrom(segments[i].First) >= configVersion })
	for i := min(firstUse, len(segments)-1); i >= max(0, firstUse-alternatingSegments); i-- {
		until := decidedAtSeq
		if i+1 < len(segments) {
			until = segments[i+1].First - 1
		}
		if hash := e.scanForConfigDocumentHash(segments[i].First, until, configVersion); hash != "" {
			return hash
		}
	}
	return ""
}

const (
	alternatingSegments = 16   // segments in which versions may alternate after a change
	maxUnversioned      = 4096 // consecutive entries that may name no version
)

// configVersionOfFirstEventFrom returns the configuration version that the log used at the entry firstSeq. It
// reads on until an event names a version, and returns 0 if none of the next 4096 entries does.
func (e *Explainer) configVersionOfFirstEventFrom(firstSeq uint64) (version uint32) {
	e.forEachEventUntilUnreadable(firstSeq, firstSeq+maxUnversioned, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.LeadDecided:
			version = ev.Catalog
		case *event.PingAuctionCompleted:
			version = ev.Catalog
		case *event.ConfigActivated:
			version = ev.Version
		}
		return version == 0
	})
	return version
}

// scanForConfigDocumentHash reads the log from entry firstSeq to entry lastSeq for the event that
// activated a configuration version. It returns the hash of the version's document, or "".
func (e *Explainer) scanForConfigDocumentHash(firstSeq, lastSeq uint64, configVersion uint32) (hash string) {
	e.forEachEventUntilUnreadable(firstSeq, lastSeq, func(ev event.Event) bool {
		if set, ok := ev.(*event.ConfigActivated); ok && set.Version == configVersion {
			hash = string(append([]byte(nil), set.Document...))
		}
		return hash == ""
	})
	return hash
}

// forEachEventUntilUnreadable calls visit with each event of the log from entry firstSeq to entry
// lastSeq. It ends early if visit returns false or an entry cannot be read. visit must not keep the
// event after it returns.
func (e *Explainer) forEachEventUntilUnreadable(firstSeq, lastSeq uint64, visit func(event.Event) (more bool)) {
	reader, err := e.Log.NewReader(firstSeq)
	if err != nil {
		return
	}
	defer reader.Close()
	decoder := event.Decoder{ForReplay: true}
	for {
		next, err := reader.Next()
		if errors.Is(err, io.EOF) || err != nil || next.Seq > lastSeq {
			return
		}
		ev, err := decoder.Decode(next.Data)
		if err != nil || !visit(ev) {
			return
		}
	}
}
