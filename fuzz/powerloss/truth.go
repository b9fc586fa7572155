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

// truth is the log of one life as it was at that life's end, with what is to be
// known of each entry. What a crash in that life leaves must begin it.
type truth struct {
	entries []wal.Entry // entry 1 first
	facts   facts
	keys    keyFiles

	// What was replayed so far, to hash it: those who ask mostly go on from there.
	hashes map[uint64]uint64 // by entry
	state  *state.State
	replay *state.Replay
	at     uint64
}

// readTruth reads a folder that nobody has open.
func readTruth(dir string) (*truth, error) {
	t := &truth{hashes: map[uint64]uint64{}}
	reader, err := wal.NewReader(dir, 1)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	if t.keys, err = readKeys(dir); err != nil {
		return nil, err
	}
	t.facts.begin()
	var decoder event.Decoder
	t.entries, err = readAll(reader, func(entry wal.Entry) error {
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
		t.facts.take(entry.Seq, fact)
		return nil
	})
	return t, err
}

// hash is the state's after an entry, by the log alone.
func (t *truth) hash(entry uint64) (uint64, error) {
	if hash, known := t.hashes[entry]; known {
		return hash, nil
	}
	if t.state == nil || entry < t.at {
		t.state, t.at = state.New(), 0
		t.replay = t.state.NewReplay()
	}
	for ; t.at < entry; t.at++ {
		if err := apply(t.replay, t.entries[t.at]); err != nil {
			return 0, err
		}
	}
	_, hash := t.state.Hash()
	t.hashes[entry] = hash
	return hash, nil
}

// apply applies one entry.
func apply(replay *state.Replay, entry wal.Entry) error {
	_, err := replay.Add(entry.Seq, entry.At, entry.Data)
	if err == nil {
		replay.Flush()
	}
	return err
}

// facts says which entry stands behind what was told.
type facts struct {
	names     map[market.Ref]string // of buyers
	requests  map[string]uint64     // the entry that a request brought
	leadOf    map[string]string     // the lead that it brought
	standing  map[string][]standing // of a lead, entry by entry
	events    map[string]uint64     // by lead and type
	documents []named               // of configurations
	made      map[string]uint64     // by what operators made: see workMark
	naming    []string              // likewise, named, and in no configuration so far
	sealed    []sealed
	erased    []erasure
	twice     []string // what there should be one of
}

// named is a configuration that an entry puts into force, by its hash.
type named struct {
	seq  uint64
	hash string
}

// standing is what became of a lead by an entry.
type standing struct {
	seq  uint64
	sold bool       // to buyer, or taken by it as far as a supplier is told
	open bool       // a post to it is intended
	to   market.Ref // its buyer; zero: none
	url  string     // where it is to be posted
}

func (f *facts) begin() {
	f.names, f.requests, f.leadOf = map[market.Ref]string{}, map[string]uint64{}, map[string]string{}
	f.standing, f.events, f.made = map[string][]standing{}, map[string]uint64{}, map[string]uint64{}
}

func (f *facts) take(seq uint64, fact event.Event) {
	switch e := fact.(type) {
	case *event.NamesGiven:
		for _, n := range e.Names {
			if n.Kind == event.NameBuyer {
				f.names[n.Ref] = strings.Clone(n.ID)
				f.name(n.ID)
			}
		}
	case *event.CatalogSet:
		f.documents = append(f.documents, named{seq, strings.Clone(e.Document)})
		if e.Overlay != "" {
			f.documents = append(f.documents, named{seq, strings.Clone(e.Overlay)})
		}
		f.configured(seq)
	case *event.UserSet:
		f.made["user "+strings.Clone(e.Name)] = seq
	case *event.ListLoaded:
		f.made[fmt.Sprint("list of ", e.Entries)] = seq
	case *event.LeadsErased:
		f.erased = append(f.erased, erasure{seq, slices.Clone(e.Slots)})
	case *event.AuctionHeld:
		f.request(e.Request.String(), seq)
	case *event.StatusChanged:
		f.request(e.Request.String(), seq)
		for i := range e.Changes {
			f.owed(e.Changes[i].Lead.String(), e.Changes[i].Webhook, seq)
		}
	case *event.LeadDecided:
		lead := e.Lead.String()
		if e.Slot != 0 {
			f.sealed = append(f.sealed, sealed{seq, e.Slot})
		}
		if len(f.standing[lead]) > 0 {
			f.twice = append(f.twice, "lead "+lead+" is decided twice")
		}
		f.request(e.Request.String(), seq)
		f.leadOf[e.Request.String()] = lead
		f.stands(lead, standing{seq: seq, to: e.Sale.Buyer, url: strings.Clone(e.Post.URL)})
		f.owed(lead, e.Webhook, seq)
	case *event.PostSettled:
		f.settle(seq, e)
	}
}

func (f *facts) request(id string, seq uint64) {
	if f.requests[id] != 0 {
		f.twice = append(f.twice, "request "+id+" brought two entries")
	}
	f.requests[id] = seq
}

func (f *facts) stands(lead string, s standing) {
	s.open = s.to != 0 && s.url != ""
	s.sold = s.to != 0 && s.url == ""
	f.standing[lead] = append(f.standing[lead], s)
}

func (f *facts) owed(lead string, what market.WebhookType, seq uint64) {
	if what != market.WebhookNone {
		f.events[lead+" "+what.String()] = seq
	}
}

func (f *facts) settle(seq uint64, e *event.PostSettled) {
	lead := e.Lead.String()
	if e.Slot != 0 {
		f.sealed = append(f.sealed, sealed{seq, e.Slot})
	}
	f.owed(lead, e.Webhook, seq)
	switch e.Settlement {
	case event.SettledRefused, event.SettledReleased:
		f.stands(lead, standing{seq: seq, to: e.Next.Buyer, url: strings.Clone(e.Post.URL)})
	default:
		f.standing[lead] = append(f.standing[lead], standing{seq: seq, sold: true, to: e.Sale.Buyer})
	}
}
