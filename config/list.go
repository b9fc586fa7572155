package config

import "pingpost/engine/market"

// List is a suppression list: who is not to be called or written to. Its
// entries are state; the file has the first ones.
type List struct {
	ID    string `json:"id"`
	Field string `json:"field"`
	Hash  string `json:"hash"`
	File  string `json:"file,omitempty"` // relative to the document's file
}

func (l *List) fill() { orElse(&l.Hash, "plain") }

func (c *compiler) list(at place, l *List) {
	id := market.ListID(l.ID)
	if c.id(at.key("id"), l.ID) {
		if _, twice := c.out.Catalog.Lists[id]; twice {
			c.fail(at.key("id"), "another list has this id; ids are unique")
		}
	}
	field, ok := market.ParseListField(l.Field)
	if !ok {
		c.fail(at.key("field"), "unknown or missing; use phone or email")
	}
	hash, ok := market.ParseHash(l.Hash)
	if !ok {
		c.fail(at.key("hash"), "unknown; use plain, md5 or sha256")
	}
	if l.File != "" {
		c.label(at.key("file"), l.File, maxURL)
		c.out.Firsts.Lists = append(c.out.Firsts.Lists, FirstList{ID: id, Path: c.source.resolve(l.File), At: c.problem(at.key("file"), "")})
	}
	c.out.Catalog.Lists[id] = &market.List{ID: id, Field: field, Hash: hash}
}

// suppression finds the lists that are named.
func (c *compiler) suppression(at place, names []string) []*market.List {
	var out []*market.List
	seen := make(map[string]place, len(names))
	for i, name := range names {
		list, ok := c.out.Catalog.Lists[market.ListID(name)]
		switch {
		case !ok:
			c.failQuoting(at.at(i), "there is no suppression list "+quote(name)+"; add it under suppression_lists")
		case c.once(at.at(i), seen, name):
			out = append(out, list)
		}
	}
	return out
}
