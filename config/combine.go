package config

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Combined is a document and what operators made entry by entry beside it, on their
// way to become one configuration. Where both have an entry of one name, the
// document has the word.
type Combined struct {
	Made  Entries // those that count
	Taken []Ref   // those that the document has too

	path  string
	text  []byte
	base  Entries
	fresh Ref // an entry that was sent and is not canonical yet
}

// Combine puts entries beside a canonical document. The path is its file's, which
// paths in it are relative to.
func Combine(path string, base []byte, made Entries) (*Combined, error) {
	entries, err := EntriesOf(base)
	if err != nil {
		return nil, err
	}
	c := &Combined{Made: made, path: path, base: entries}
	for _, ref := range made.Refs() {
		if entries.Find(ref) != nil {
			c.Made = c.Made.Without(ref)
			c.Taken = append(c.Taken, ref)
		}
	}
	if err := c.write(base); err != nil {
		return nil, err
	}
	return c, nil
}

// write puts the whole document together, a collection's own entries first.
func (c *Combined) write(base []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(base, &members); err != nil {
		return err
	}
	all := make(Entries, len(Kinds))
	for _, kind := range Kinds {
		delete(members, string(kind))
		all[kind] = append(append(all[kind], c.base[kind]...), c.Made[kind]...)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	c.text = append(all.appendTo(rest[:len(rest)-1]), '}')
	return nil
}

// Sent makes one of the entries one that an operator has just sent. A secret that it
// leaves out is the one that the entry has already, of which the text before tells.
func (c *Combined) Sent(ref Ref) { c.fresh = ref }

// Compile judges the whole and builds it. The error is *Problems; places in them are
// by the entries' ids, and what stands in an entry that was made says so.
func (c *Combined) Compile(before json.RawMessage) (*Exchange, error) {
	r := &reader{file: c.path, sent: true, keeps: true}
	source, err := parse(r, c.text, func(d *Document) { d.carry(c.fresh, before) })
	if err != nil {
		return nil, c.told(err)
	}
	source.accepted = c.accepted
	built, err := source.Compile()
	if err != nil {
		return nil, c.told(err)
	}
	for i := range built.Warnings {
		c.tell(&built.Warnings[i])
	}
	for i := range built.Kept {
		c.tell(&built.Kept[i].Problem)
	}
	for i := range built.Firsts.Lists {
		c.tell(&built.Firsts.Lists[i].At)
	}
	return built, nil
}

// accepted reports whether a place is in an entry that was judged when it was sent, or
// in the document, which is judged by itself.
func (c *Combined) accepted(at place) bool {
	found := numbered.FindStringSubmatch(string(at))
	if len(found) == 0 || found[1] != "" {
		return true
	}
	ref, _ := c.at(found[2], found[3])
	return ref != c.fresh
}

// OfMade returns the problems of a whole that are in entries made through the API.
func (c *Combined) OfMade(all Problems) (of Problems) {
	made := c.Made.Refs()
	for _, p := range all {
		if slices.ContainsFunc(made, func(ref Ref) bool { _, in := p.Within(ref); return in }) {
			of = append(of, p)
		}
	}
	return of
}

func (c *Combined) told(err error) error {
	var problems *Problems
	if !errors.As(err, &problems) {
		return err
	}
	for i := range *problems {
		c.tell(&(*problems)[i])
	}
	return problems
}

// tell turns numbers of entries into their ids, since nobody has seen the text that
// the numbers and the lines are of.
func (c *Combined) tell(p *Problem) {
	p.Line, p.Column = 0, 0
	p.Message = numbered.ReplaceAllStringFunc(p.Message, func(place string) string {
		found := numbered.FindStringSubmatch(place)
		ref, _ := c.at(found[2], found[3])
		return found[1] + ref.String()
	})
	found := numbered.FindStringSubmatch(p.Path)
	if len(found) == 0 || found[1] != "" {
		return
	}
	ref, made := c.at(found[2], found[3])
	p.Path = ref.String() + strings.TrimPrefix(p.Path, found[0])
	if made && ref != c.fresh {
		p.Message += " (" + ref.String() + " was made through the API: change it by PUT /admin/v1/config/" + string(ref.Kind) + "/" + ref.ID + ", or give it back what it refers to)"
	}
}

// numbered is an entry's place by its number. A collection of the same name inside an
// entry has a dot before it.
var numbered = regexp.MustCompile(`(^|[^.\w])(suppliers|buyers|suppression_lists|campaigns)\[(\d+)\]`)

func (c *Combined) at(kind, number string) (ref Ref, made bool) {
	ref.Kind = Kind(kind)
	i, err := strconv.Atoi(number)
	base, own := c.base[ref.Kind], c.Made[ref.Kind]
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

// Within is a problem's place within an entry; false: it stands elsewhere.
func (p *Problem) Within(ref Ref) (at string, ok bool) {
	rest, ok := strings.CutPrefix(p.Path, ref.String())
	return strings.TrimPrefix(rest, "."), ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
