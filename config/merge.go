package config

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// Merged is a document and what operators made entry by entry beside it, on their
// way to become one configuration. Where both have an entry of one name, the
// document has the word.
type Merged struct {
	FromAPI    canonical.Entries // those that count
	Overridden []canonical.Ref   // those that the document has too

	path string
	text []byte
	base canonical.Entries
	sent canonical.Ref // an entry that was sent and is not canonical yet
}

// Merge puts entries beside a canonical document. The path is its file's, which
// paths in it are relative to.
func Merge(path string, base []byte, made canonical.Entries) (*Merged, error) {
	entries, err := canonical.ParseEntries(base)
	if err != nil {
		return nil, err
	}
	c := &Merged{FromAPI: made, path: path, base: entries}
	for _, ref := range made.Refs() {
		if entries.Find(ref) != nil {
			c.FromAPI = c.FromAPI.Without(ref)
			c.Overridden = append(c.Overridden, ref)
		}
	}
	if err := c.write(base); err != nil {
		return nil, err
	}
	return c, nil
}

// write puts the whole document together, a collection's own entries first.
func (c *Merged) write(base []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(base, &members); err != nil {
		return err
	}
	all := make(canonical.Entries, len(canonical.Kinds))
	for _, kind := range canonical.Kinds {
		delete(members, string(kind))
		all[kind] = append(append(all[kind], c.base[kind]...), c.FromAPI[kind]...)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	c.text = append(all.AppendTo(rest[:len(rest)-1]), '}')
	return nil
}

// SetSent makes one of the entries one that an operator has just sent. A secret that it
// leaves out is the one that the entry has already, of which the text before tells.
func (c *Merged) SetSent(ref canonical.Ref) { c.sent = ref }

// Compile judges the whole and builds it. The error is *Problems; places in them are
// by the entries' ids, and what stands in an entry that was made says so.
func (c *Merged) Compile(before json.RawMessage) (*Compiled, error) {
	r := &schema.Binder{Reader: &syntax.Reader{File: c.path}, Sent: true, AllowUnset: true}
	source, err := parse(r, c.text, func(d *schema.Document) { keepSecrets(d, c.sent, before) })
	if err != nil {
		return nil, c.localize(err)
	}
	source.isAccepted = c.accepted
	built, err := source.Compile()
	if err != nil {
		return nil, c.localize(err)
	}
	for i := range built.Warnings {
		c.localizeProblem(&built.Warnings[i])
	}
	for i := range built.Unset {
		c.localizeProblem(&built.Unset[i].Problem)
	}
	for i := range built.Initial.Lists {
		c.localizeProblem(&built.Initial.Lists[i].At)
	}
	return built, nil
}

// accepted reports whether a place is in an entry that was judged when it was sent, or
// in the document, which is judged by itself.
func (c *Merged) accepted(at syntax.Path) bool {
	found := indexedEntry.FindStringSubmatch(string(at))
	if len(found) == 0 || found[1] != "" {
		return true
	}
	ref, _ := c.entryAt(found[2], found[3])
	return ref != c.sent
}

// FromAPIOnly returns the problems of a whole that are in entries made through the API.
func (c *Merged) FromAPIOnly(all syntax.Problems) (of syntax.Problems) {
	made := c.FromAPI.Refs()
	for _, p := range all {
		if slices.ContainsFunc(made, func(ref canonical.Ref) bool { _, in := ref.PathWithin(p.Path); return in }) {
			of = append(of, p)
		}
	}
	return of
}

func (c *Merged) localize(err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	for i := range *problems {
		c.localizeProblem(&(*problems)[i])
	}
	return problems
}

// localizeProblem turns numbers of entries into their ids, since nobody has seen the text that
// the numbers and the lines are of.
func (c *Merged) localizeProblem(p *syntax.Problem) {
	p.Line, p.Column = 0, 0
	p.Message = indexedEntry.ReplaceAllStringFunc(p.Message, func(place string) string {
		found := indexedEntry.FindStringSubmatch(place)
		ref, _ := c.entryAt(found[2], found[3])
		return found[1] + ref.String()
	})
	found := indexedEntry.FindStringSubmatch(p.Path)
	if len(found) == 0 || found[1] != "" {
		return
	}
	ref, made := c.entryAt(found[2], found[3])
	p.Path = ref.String() + strings.TrimPrefix(p.Path, found[0])
	if made && ref != c.sent {
		p.Message += " (" + ref.String() + " was made through the API: change it by PUT /admin/v1/config/" + string(ref.Kind) + "/" + ref.ID + ", or give it back what it refers to)"
	}
}

// indexedEntry is an entry's place by its number. A collection of the same name inside an
// entry has a dot before it.
var indexedEntry = regexp.MustCompile(`(^|[^.\w])(suppliers|buyers|suppression_lists|campaigns)\[(\d+)\]`)

func (c *Merged) entryAt(kind, number string) (ref canonical.Ref, made bool) {
	ref.Kind = canonical.Kind(kind)
	i, err := strconv.Atoi(number)
	base, own := c.base[ref.Kind], c.FromAPI[ref.Kind]
	switch {
	case err != nil || i >= len(base)+len(own):
		ref.ID = number
	case i < len(base):
		ref.ID = base[i].ID
	default:
		ref.ID, made = own[i-len(base)].ID, true
	}
	return ref, made
}

// keepSecrets gives an entry that was sent the secrets that it leaves out and has already:
// who edits it has never seen them. Left out is not taken away: another form of auth,
// or none, is.
func keepSecrets(d *schema.Document, ref canonical.Ref, before json.RawMessage) {
	if before == nil {
		return
	}
	old, err := ParseCanonical(append(append([]byte(`{"`+string(ref.Kind)+`":[`), before...), "]}"...))
	if err != nil {
		panic("BUG: an entry in force is none: " + err.Error())
	}
	switch ref.Kind {
	case canonical.Suppliers:
		if now := schema.Find(d.Suppliers, ref.ID, func(s *schema.Supplier) string { return s.ID }); now != nil {
			now.KeepSecrets(&old.Document.Suppliers[0])
		}
	case canonical.Buyers:
		if now := schema.Find(d.Buyers, ref.ID, func(b *schema.Buyer) string { return b.ID }); now != nil {
			now.KeepSecrets(&old.Document.Buyers[0])
		}
	}
}
