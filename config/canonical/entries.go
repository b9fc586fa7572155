package canonical

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pingpost/config/schema"
)

// Collection is one of the document's collections whose entries have an id, such as buyers. Its
// value is the collection's key.
type Collection string

// The kinds of entries that operators can create one by one.
const (
	Suppliers Collection = "suppliers"
	Buyers    Collection = "buyers"
	Lists     Collection = "suppression_lists"
	Campaigns Collection = "campaigns"
)

// Collections lists all collections in a document's order.
var Collections = [...]Collection{Suppliers, Buyers, Lists, Campaigns}

// EntryRef identifies an entry of a document by its collection and its id.
type EntryRef struct {
	Kind Collection
	ID   string
}

// String returns the entry's path by id, such as buyers[buy_vault], as Diff writes it.
func (r EntryRef) String() string { return string(r.Kind) + "[" + quoteForBrackets(r.ID) + "]" }

// Entry is one entry of a collection, such as a buyer. Its text is canonical JSON without secrets,
// except for an entry that an operator has just sent.
type Entry struct {
	ID   string
	Text json.RawMessage
}

// Entries are all entries of a document by collection, sorted by id. They are immutable, except for
// AppendInPlace: all other changes return a copy.
type Entries map[Collection][]Entry

// ParseEntries returns the entries of a canonical document, or of the output of
// EncodeDocument.
func ParseEntries(canonical []byte) (Entries, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &document); err != nil {
		return nil, err
	}
	all := make(Entries, len(Collections))
	for _, kind := range Collections {
		var texts []json.RawMessage
		if list, ok := document[string(kind)]; ok {
			if err := json.Unmarshal(list, &texts); err != nil {
				return nil, err
			}
		}
		for _, text := range texts {
			var named struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(text, &named); err != nil {
				return nil, err
			}
			all[kind] = append(all[kind], Entry{named.ID, text})
		}
	}
	return all, nil
}

// FindJSON returns the entry's JSON text, or nil if there is no such entry.
func (e Entries) FindJSON(ref EntryRef) json.RawMessage {
	if i, ok := e.searchIndex(ref); ok {
		return e[ref.Kind][i].Text
	}
	return nil
}

func (e Entries) searchIndex(ref EntryRef) (foundOrInsertIndex int, found bool) {
	return slices.BinarySearchFunc(e[ref.Kind], ref.ID, func(entry Entry, id string) int { return cmp.Compare(entry.ID, id) })
}

// WithEntry returns a copy of the entries in which the entry ref has this text. It adds or
// replaces the entry.
func (e Entries) WithEntry(ref EntryRef, entryJSON json.RawMessage) Entries {
	i, there := e.searchIndex(ref)
	list := slices.Clone(e[ref.Kind])
	if there {
		list[i].Text = entryJSON
	} else {
		list = slices.Insert(list, i, Entry{ref.ID, entryJSON})
	}
	return e.withCollection(ref.Kind, list)
}

// WithoutEntry returns a copy of the entries without the entry ref.
func (e Entries) WithoutEntry(ref EntryRef) Entries {
	i, there := e.searchIndex(ref)
	if !there {
		return e
	}
	return e.withCollection(ref.Kind, slices.Delete(slices.Clone(e[ref.Kind]), i, i+1))
}

func (e Entries) withCollection(kind Collection, list []Entry) Entries {
	all := maps.Clone(e)
	if all == nil {
		all = make(Entries)
	}
	all[kind] = list
	return all
}

// Refs returns the collection and id of every entry.
func (e Entries) Refs() (refs []EntryRef) {
	for _, kind := range Collections {
		for _, entry := range e[kind] {
			refs = append(refs, EntryRef{kind, entry.ID})
		}
	}
	return refs
}

// WithEntriesOf returns a copy of the entries with those of other added. An entry of other replaces
// the entry with the same collection and id.
func (e Entries) WithEntriesOf(other Entries) Entries {
	all := make(Entries, len(Collections))
	for _, kind := range Collections {
		list := append(slices.Clone(other[kind]), e[kind]...)
		slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
		all[kind] = slices.CompactFunc(list, func(a, b Entry) bool { return a.ID == b.ID })
	}
	return all
}

// AppendInPlace adds an entry to its collection in e itself. The caller must add the entries of a
// collection in the order of their ids.
func (e Entries) AppendInPlace(ref EntryRef, entryJSON json.RawMessage) {
	e[ref.Kind] = append(e[ref.Kind], Entry{ref.ID, entryJSON})
}

// DiffEntry returns the changes from one version of an entry to another. nil means that the entry is
// missing. Versions that differ only in the names of variables have no changes.
func DiffEntry(ref EntryRef, before, after json.RawMessage) []Change {
	if bytes.Equal(before, after) {
		return nil
	}
	document := func(entryJSON json.RawMessage) []byte {
		if entryJSON == nil {
			return nil
		}
		return Entries(nil).WithEntry(ref, entryJSON).EncodeDocument()
	}
	return Diff(document(before), document(after))
}

// SettingsWithoutEntries returns a canonical document without its entries: its settings.
func SettingsWithoutEntries(canonical []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &members); err != nil {
		return nil, err
	}
	for _, kind := range Collections {
		delete(members, string(kind))
	}
	return json.Marshal(members)
}

// nodeSettings are the settings that differ between the nodes of a cluster.
var nodeSettings = []string{"data_dir", "listen", "admin", "tls", "cluster"}

// WithoutNodeSettings returns a canonical document without the settings that differ between the nodes of
// a cluster. The nodes share the rest.
func WithoutNodeSettings(canonical []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &members); err != nil {
		return nil, err
	}
	for _, key := range nodeSettings {
		delete(members, key)
	}
	return json.Marshal(members)
}

// EncodeDocument returns the entries as one JSON document, or nil if there are no entries.
func (e Entries) EncodeDocument() []byte {
	if len(e.Refs()) == 0 {
		return nil
	}
	return append(e.AppendCollectionsAsJSON([]byte("{")), '}')
}

// AppendCollectionsAsJSON appends each collection as a key and a list to openJSONObject, the text of
// a JSON object without its closing brace.
func (e Entries) AppendCollectionsAsJSON(openJSONObject []byte) []byte {
	for _, kind := range Collections {
		if len(e[kind]) == 0 {
			continue
		}
		if !bytes.HasSuffix(openJSONObject, []byte("{")) {
			openJSONObject = append(openJSONObject, ',')
		}
		openJSONObject = append(append(append(openJSONObject, '"'), kind...), `":[`...)
		for i, entry := range e[kind] {
			if i > 0 {
				openJSONObject = append(openJSONObject, ',')
			}
			openJSONObject = append(openJSONObject, entry.Text...)
		}
		openJSONObject = append(openJSONObject, ']')
	}
	return openJSONObject
}

// DefaultEntries returns, for each collection, an entry that has only the default values.
func DefaultEntries() (defaultByCollection map[Collection]json.RawMessage, err error) {
	d := &schema.Document{Suppliers: []schema.Supplier{{}}, Buyers: []schema.Buyer{{}}, Lists: []schema.SuppressionList{{}}, Campaigns: []schema.Campaign{{}}}
	d.FillDefaults()
	entries, err := ParseEntries(Encode(d))
	if err != nil {
		return nil, err
	}
	defaults := make(map[Collection]json.RawMessage, len(Collections))
	for _, kind := range Collections {
		defaults[kind] = entries[kind][0].Text
	}
	return defaults, nil
}

// PathWithin returns the rest of a problem's path after the entry's own path. isWithin is false if
// the path is not inside the entry.
func (r EntryRef) PathWithin(problemPath string) (restOfPath string, isWithin bool) {
	rest, isWithin := strings.CutPrefix(problemPath, r.String())
	return strings.TrimPrefix(rest, "."), isWithin && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
