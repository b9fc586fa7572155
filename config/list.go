package config

import (
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

func (c *compiler) compileSuppressionList(at syntax.KeyPath, l *schema.SuppressionList) {
	id := market.ListID(l.ID)
	if c.checkID(at.Key("id"), l.ID) {
		if _, twice := c.out.Catalog.Lists[id]; twice {
			c.reportMistake(at.Key("id"), "another list has this id; ids are unique")
		}
	}
	field, ok := market.ParseSuppressedField(l.Field)
	if !ok {
		c.reportMistake(at.Key("field"), "unknown or missing; use phone or email")
	}
	hash, ok := market.ParseSuppressionHashKind(l.Hash)
	if !ok {
		c.reportMistake(at.Key("hash"), "unknown; use plain, md5 or sha256")
	}
	if l.File != "" {
		c.checkPrintableText(at.Key("file"), l.File, maxURL)
		c.out.Initial.Lists = append(c.out.Initial.Lists, InitialSuppressionFile{ID: id, Path: c.source.resolvePath(l.File), At: c.newProblemAt(at.Key("file"), "")})
	}
	c.out.Catalog.Lists[id] = &market.SuppressionListDefinition{ID: id, Field: field, Hash: hash}
}

// resolveSuppressionLists returns the suppression lists with these names. It reports unknown
// and repeated names.
func (c *compiler) resolveSuppressionLists(at syntax.KeyPath, names []string) []*market.SuppressionListDefinition {
	var out []*market.SuppressionListDefinition
	seen := make(map[string]syntax.KeyPath, len(names))
	for i, name := range names {
		list, ok := c.out.Catalog.Lists[market.ListID(name)]
		switch {
		case !ok:
			c.reportMistakeHidingEnvironmentValue(at.Index(i), "there is no suppression list "+quoteShortened(name)+"; add it under suppression_lists")
		case c.checkUnique(at.Index(i), seen, name):
			out = append(out, list)
		}
	}
	return out
}
