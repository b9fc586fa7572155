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

// Kind is one of the document's collections whose entries have an id, such as buyers. Its
// value is the collection's key.
type Kind string

// The kinds of entries that operators can create one by one.
const (
	Suppliers Kind = "suppliers"
	Buyers    Kind = "buyers"
	Lists     Kind = "suppression_lists"
	Campaigns Kind = "campaigns"
)

// Kinds lists all kinds in a document's order.
var Kinds = [...]Kind{Suppliers, Buyers, Lists, Campaigns}

// Ref identifies an entry of a document by its collection and its id.
type Ref struct {
	Kind Kind
	ID   string
}

// String returns the entry's path by id, such as buyers[buy_vault], as Diff writes it.
func (r Ref) String() string { return string(r.Kind) + "[" + quoteForBrackets(r.ID) + "]" }

// Entry is one entry of a collection, such as a buyer, as canonical JSON without a secret.
type Entry struct {
	ID   string
	Text json.RawMessage
}

// Entries are all entries of a document by collection, sorted by id. They are immutable:
// changes return a copy.
type Entries map[Kind][]Entry

// ParseEntries returns the entries of a canonical document, or of the output of
// EncodeDocument.
func ParseEntries(canonical []byte) (Entries, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &document); err != nil {
		return nil, err
	}
	all := make(Entries, len(Kinds))
	for _, kind := range Kinds {
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

// Find returns the entry's JSON text, or nil if there is no such entry.
func (e Entries) Find(ref Ref) json.RawMessage {
	if i, ok := e.searchIndex(ref); ok {
		return e[ref.Kind][i].Text
	}
	return nil
}

func (e Entries) searchIndex(ref Ref) (index int, found bool) {
	return slices.BinarySearchFunc(e[ref.Kind], ref.ID, func(entry Entry, id string) int { return cmp.Compare(entry.ID, id) })
}

// WithEntry returns a copy of the entries in which the entry ref has this text. It adds or
// replaces the entry.
func (e Entries) WithEntry(ref Ref, text json.RawMessage) Entries {
	i, there := e.searchIndex(ref)
	list := slices.Clone(e[ref.Kind])
	if there {
		list[i].Text = text
	} else {
		list = slices.Insert(list, i, Entry{ref.ID, text})
	}
	return e.replaceKind(ref.Kind, list)
}

// WithoutEntry returns a copy of the entries without the entry ref.
func (e Entries) WithoutEntry(ref Ref) Entries {
	i, there := e.searchIndex(ref)
	if !there {
		return e
	}
	return e.replaceKind(ref.Kind, slices.Delete(slices.Clone(e[ref.Kind]), i, i+1))
}

func (e Entries) replaceKind(kind Kind, list []Entry) Entries {
	all := maps.Clone(e)
	if all == nil {
		all = make(Entries)
	}
	all[kind] = list
	return all
}

// Refs returns the collection and id of every entry.
func (e Entries) Refs() (refs []Ref) {
	for _, kind := range Kinds {
		for _, entry := range e[kind] {
			refs = append(refs, Ref{kind, entry.ID})
		}
	}
	return refs
}

// EncodeDocument returns the entries as one JSON document, or nil if there are no entries.
func (e Entries) EncodeDocument() []byte {
	if len(e.Refs()) == 0 {
		return nil
	}
	return append(e.AppendMembers([]byte("{")), '}')
}

// AppendMembers appends each collection as a key and a list to `out`, the unfinished text of
// a JSON object.
func (e Entries) AppendMembers(out []byte) []byte {
	for _, kind := range Kinds {
		if len(e[kind]) == 0 {
			continue
		}
		if !bytes.HasSuffix(out, []byte("{")) {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), kind...), `":[`...)
		for i, entry := range e[kind] {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, entry.Text...)
		}
		out = append(out, ']')
	}
	return out
}

// DefaultEntries returns, for each collection, an entry that has only the default values.
func DefaultEntries() (map[Kind]json.RawMessage, error) {
	d := &schema.Document{Suppliers: []schema.Supplier{{}}, Buyers: []schema.Buyer{{}}, Lists: []schema.List{{}}, Campaigns: []schema.Campaign{{}}}
	d.FillDefaults()
	entries, err := ParseEntries(Encode(d))
	if err != nil {
		return nil, err
	}
	defaults := make(map[Kind]json.RawMessage, len(Kinds))
	for _, kind := range Kinds {
		defaults[kind] = entries[kind][0].Text
	}
	return defaults, nil
}

// PathWithin returns the rest of a problem's path after the entry's own path. ok is false if
// the path is not inside the entry.
func (r Ref) PathWithin(path string) (at string, ok bool) {
	rest, ok := strings.CutPrefix(path, r.String())
	return strings.TrimPrefix(rest, "."), ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
