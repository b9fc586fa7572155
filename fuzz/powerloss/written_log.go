package main

import (
	"fmt"
	"slices"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// writtenLog is the log at the end of a lifetime, with an index. After a power loss in that
// lifetime, the remaining log must be a prefix of it.
type writtenLog struct {
	entries []wal.Entry // entry 1 first
	index   logIndex
	keys    keyFiles

	// Replay state for hashAt; most callers ask for increasing positions.
	hashes   map[uint64]uint64 // by entry
	state    *state.State
	replay   *state.LogReplay
	position uint64
}

// readWrittenLog reads the log of a stopped exchange.
func readWrittenLog(dir string) (*writtenLog, error) {
	t := &writtenLog{hashes: map[uint64]uint64{}}
	reader, err := wal.NewReader(dir, 1)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	if t.keys, err = readKeys(dir); err != nil {
		return nil, err
	}
	t.index.init()
	var decoder event.Decoder
	t.entries, err = readAllEntries(reader, func(entry wal.Entry) error {
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
		t.index.add(entry.Seq, fact)
		return nil
	})
	return t, err
}

// hashAt returns the state's hash after an entry, computed from the log alone.
func (t *writtenLog) hashAt(entry uint64) (uint64, error) {
	if hash, known := t.hashes[entry]; known {
		return hash, nil
	}
	if t.state == nil || entry < t.position {
		t.state, t.position = state.New(), 0
		t.replay = t.state.NewLogReplay()
	}
	for ; t.position < entry; t.position++ {
		if err := applyEntry(t.replay, t.entries[t.position]); err != nil {
			return 0, err
		}
	}
	_, hash := t.state.Hash()
	t.hashes[entry] = hash
	return hash, nil
}

// applyEntry applies one entry.
func applyEntry(replay *state.LogReplay, entry wal.Entry) error {
	_, err := replay.QueueEntry(entry.Seq, entry.At, entry.Data)
	if err == nil {
		replay.ApplyQueuedEntries()
	}
	return err
}

// logIndex finds the entry that an output relies on.
type logIndex struct {
	names         map[market.PermanentNumber]string // buyers by reference
	seqByRequest  map[string]uint64                 // entry of a request
	leadByRequest map[string]string                 // lead of a request
	leadStates    map[string][]leadState            // states of a lead in log order
	seqByWebhook  map[string]uint64                 // entry that triggers a webhook, by lead and type
	documents     []configEntry                     // configuration documents
	seqByCreated  map[string]uint64                 // entry of a created object: see objectPrefix
	pendingBuyers []string                          // buyers that are named but not yet configured
	sealed        []encryptedEntry
	erased        []erasure
	duplicates    []string // violations: two entries where one is expected
}

// configEntry is an entry that activates a configuration document.
type configEntry struct {
	seq  uint64
	hash string
}

// leadState is the state of a lead after an entry.
type leadState struct {
	seq   uint64
	sold  bool                   // sold to buyer, as the supplier's answer may report
	open  bool                   // a post is intended
	buyer market.PermanentNumber // zero: unsold
	url   string                 // URL of the post
}

func (f *logIndex) init() {
	f.names, f.seqByRequest, f.leadByRequest = map[market.PermanentNumber]string{}, map[string]uint64{}, map[string]string{}
	f.leadStates, f.seqByWebhook, f.seqByCreated = map[string][]leadState{}, map[string]uint64{}, map[string]uint64{}
}

func (f *logIndex) add(seq uint64, fact event.Event) {
	switch e := fact.(type) {
	case *event.ConfigObjectNumbersAssigned:
		for _, n := range e.Names {
			if n.Kind == event.ObjectBuyer {
				f.names[n.Ref] = strings.Clone(n.ID)
				f.noteBuyerName(n.ID)
			}
		}
	case *event.ConfigActivated:
		f.documents = append(f.documents, configEntry{seq, strings.Clone(e.Document)})
		if e.Overlay != "" {
			f.documents = append(f.documents, configEntry{seq, strings.Clone(e.Overlay)})
		}
		f.noteConfigEntry(seq)
	case *event.UserAccountChanged:
		f.seqByCreated["user "+strings.Clone(e.Name)] = seq
	case *event.SuppressionListContentLoaded:
		f.seqByCreated[fmt.Sprint("list of ", e.Entries)] = seq
	case *event.PersonalDataOfLeadsErased:
		f.erased = append(f.erased, erasure{seq, slices.Clone(e.Slots)})
	case *event.PingAuctionCompleted:
		f.addRequest(e.Request.String(), seq)
	case *event.LeadStatusChangesDecided:
		f.addRequest(e.Request.String(), seq)
		for i := range e.Changes {
			f.addWebhook(e.Changes[i].Lead.String(), e.Changes[i].Webhook, seq)
		}
	case *event.LeadDecided:
		lead := e.Lead.String()
		if e.Slot != 0 {
			f.sealed = append(f.sealed, encryptedEntry{seq, e.Slot})
		}
		if len(f.leadStates[lead]) > 0 {
			f.duplicates = append(f.duplicates, "lead "+lead+" is decided twice")
		}
		f.addRequest(e.Request.String(), seq)
		f.leadByRequest[e.Request.String()] = lead
		f.addState(lead, leadState{seq: seq, buyer: e.Sale.Buyer, url: strings.Clone(e.Post.URL)})
		f.addWebhook(lead, e.Webhook, seq)
	case *event.PostSettled:
		f.addSettlement(seq, e)
	}
}

func (f *logIndex) addRequest(id string, seq uint64) {
	if f.seqByRequest[id] != 0 {
		f.duplicates = append(f.duplicates, "request "+id+" has two entries")
	}
	f.seqByRequest[id] = seq
}

func (f *logIndex) addState(lead string, s leadState) {
	s.open = s.buyer != 0 && s.url != ""
	s.sold = s.buyer != 0 && s.url == ""
	f.leadStates[lead] = append(f.leadStates[lead], s)
}

func (f *logIndex) addWebhook(lead string, what market.WebhookType, seq uint64) {
	if what != market.WebhookNone {
		f.seqByWebhook[lead+" "+what.String()] = seq
	}
}

func (f *logIndex) addSettlement(seq uint64, e *event.PostSettled) {
	lead := e.Lead.String()
	if e.Slot != 0 {
		f.sealed = append(f.sealed, encryptedEntry{seq, e.Slot})
	}
	f.addWebhook(lead, e.Webhook, seq)
	switch e.Settlement {
	case event.SettledRefused, event.SettledReleased:
		f.addState(lead, leadState{seq: seq, buyer: e.Next.Buyer, url: strings.Clone(e.Post.URL)})
	default:
		f.leadStates[lead] = append(f.leadStates[lead], leadState{seq: seq, sold: true, buyer: e.Sale.Buyer})
	}
}
