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

// FileAndAPIDocument combines the configuration document (the file) with the entries that
// operators created through the API. If both have an entry with the same id, the document's
// entry applies.
type FileAndAPIDocument struct {
	FromAPI    canonical.Entries    // the API's entries that apply
	Overridden []canonical.EntryRef // the API's entries that the document has too

	path string
	text []byte
	base canonical.Entries
	sent canonical.EntryRef // the entry that an operator has just sent; not canonical yet
}

// Merge combines a canonical document with the entries created through the API. Paths of
// files in the document are relative to the folder of filePath.
func Merge(filePath string, canonicalFile []byte, entriesFromAPI canonical.Entries) (*FileAndAPIDocument, error) {
	entries, err := canonical.ParseEntries(canonicalFile)
	if err != nil {
		return nil, err
	}
	c := &FileAndAPIDocument{FromAPI: entriesFromAPI, path: filePath, base: entries}
	for _, ref := range entriesFromAPI.Refs() {
		if entries.FindJSON(ref) != nil {
			c.FromAPI = c.FromAPI.WithoutEntry(ref)
			c.Overridden = append(c.Overridden, ref)
		}
	}
	if err := c.encodeMergedText(canonicalFile); err != nil {
		return nil, err
	}
	return c, nil
}

// encodeMergedText encodes the combined document as JSON into c.text. In each collection, the
// entries of the file come before those of the API.
func (c *FileAndAPIDocument) encodeMergedText(canonicalFile []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonicalFile, &members); err != nil {
		return err
	}
	all := make(canonical.Entries, len(canonical.Collections))
	for _, kind := range canonical.Collections {
		delete(members, string(kind))
		all[kind] = append(append(all[kind], c.base[kind]...), c.FromAPI[kind]...)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	c.text = append(all.AppendCollectionsAsJSON(rest[:len(rest)-1]), '}')
	return nil
}

// MarkEntryAsJustSent tells Compile which entry an operator has just sent. Secrets that the sent
// entry omits stay as they were in its earlier text, which is the argument of Compile.
func (c *FileAndAPIDocument) MarkEntryAsJustSent(ref canonical.EntryRef) { c.sent = ref }

// Compile checks and compiles the combined document. sentEntryBefore is the text of the sent entry
// (MarkEntryAsJustSent) that is in force until now, or nil for a new entry. Secrets that the sent entry
// omits stay as they are in that text. The error is *syntax.Problems. Their paths name entries by
// id, and their messages say if an entry other than the sent one comes from the API.
func (c *FileAndAPIDocument) Compile(sentEntryBefore json.RawMessage) (*CompiledDocument, error) {
	r := &schema.Binder{Reader: &syntax.Reader{File: c.path}, Sent: true, AllowUnset: true}
	source, err := parseDocument(r, c.text, func(d *schema.Document) { keepOmittedSecretsOfEntry(d, c.sent, sentEntryBefore) })
	if err != nil {
		return nil, c.replaceIndexesByIDs(err)
	}
	source.isAccepted = c.isOutsideSentEntry
	built, err := source.Compile()
	if err != nil {
		return nil, c.replaceIndexesByIDs(err)
	}
	for i := range built.Warnings {
		c.replaceIndexesInProblem(&built.Warnings[i])
	}
	for i := range built.Unset {
		c.replaceIndexesInProblem(&built.Unset[i].Problem)
	}
	for i := range built.Initial.Lists {
		c.replaceIndexesInProblem(&built.Initial.Lists[i].At)
	}
	return built, nil
}

// isOutsideSentEntry reports whether the path is outside of the entry that an operator has
// just sent. All other parts were checked when they were loaded or sent.
func (c *FileAndAPIDocument) isOutsideSentEntry(at syntax.KeyPath) bool {
	found := indexedEntry.FindStringSubmatch(string(at))
	if len(found) == 0 || found[1] != "" {
		return true
	}
	ref, _ := c.entryByIndex(found[2], found[3])
	return ref != c.sent
}

// ProblemsInAPIEntries returns those problems that are in entries created through the API.
func (c *FileAndAPIDocument) ProblemsInAPIEntries(all syntax.Problems) (inAPIEntries syntax.Problems) {
	made := c.FromAPI.Refs()
	for _, p := range all {
		if slices.ContainsFunc(made, func(ref canonical.EntryRef) bool { _, in := ref.PathWithin(p.Path); return in }) {
			inAPIEntries = append(inAPIEntries, p)
		}
	}
	return inAPIEntries
}

// replaceIndexesByIDs returns the error with entries named by id instead of by index in the
// paths of its problems.
func (c *FileAndAPIDocument) replaceIndexesByIDs(err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	for i := range *problems {
		c.replaceIndexesInProblem(&(*problems)[i])
	}
	return problems
}

// replaceIndexesInProblem names entries by id instead of by index in the problem's path and
// message. It removes the line number, because operators never see the combined text. If the entry
// comes from the API and is not the sent one, it adds to the message how to change the entry.
func (c *FileAndAPIDocument) replaceIndexesInProblem(p *syntax.Problem) {
	p.Line, p.Column = 0, 0
	p.Message = indexedEntry.ReplaceAllStringFunc(p.Message, func(place string) string {
		found := indexedEntry.FindStringSubmatch(place)
		ref, _ := c.entryByIndex(found[2], found[3])
		return found[1] + ref.String()
	})
	found := indexedEntry.FindStringSubmatch(p.Path)
	if len(found) == 0 || found[1] != "" {
		return
	}
	ref, made := c.entryByIndex(found[2], found[3])
	p.Path = ref.String() + strings.TrimPrefix(p.Path, found[0])
	if made && ref != c.sent {
		p.Message += " (" + ref.String() + " was created through the API: change it with PUT /admin/v1/config/" + string(ref.Kind) + "/" + ref.ID + ", or restore the entries that it refers to)"
	}
}

// indexedEntry matches an entry's path with its index. A collection of the same name
// inside an entry has a dot before it.
var indexedEntry = regexp.MustCompile(`(^|[^.\w])(suppliers|buyers|suppression_lists|campaigns)\[(\d+)\]`)

func (c *FileAndAPIDocument) entryByIndex(collection, indexText string) (ref canonical.EntryRef, fromAPI bool) {
	ref.Kind = canonical.Collection(collection)
	i, err := strconv.Atoi(indexText)
	base, own := c.base[ref.Kind], c.FromAPI[ref.Kind]
	switch {
	case err != nil || i >= len(base)+len(own):
		ref.ID = indexText
	case i < len(base):
		ref.ID = base[i].ID
	default:
		ref.ID, fromAPI = own[i-len(base)].ID, true
	}
	return ref, fromAPI
}

// keepOmittedSecretsOfEntry looks for secrets of the earlier text (earlierEntry) that the entry just
// sent by an operator omits. It declares them in the entry without their values, so they stay in force.
// The operator cannot see these secrets. Omitting a secret does not remove it; choosing another form of
// auth, or no auth, does.
func keepOmittedSecretsOfEntry(d *schema.Document, ref canonical.EntryRef, earlierEntry json.RawMessage) {
	if earlierEntry == nil {
		return
	}
	old, err := ParseStoredDocument(append(append([]byte(`{"`+string(ref.Kind)+`":[`), earlierEntry...), "]}"...))
	if err != nil {
		panic("BUG: an entry in force cannot be parsed: " + err.Error())
	}
	switch ref.Kind {
	case canonical.Suppliers:
		if now := schema.FindByID(d.Suppliers, ref.ID, func(s *schema.Supplier) string { return s.ID }); now != nil {
			now.KeepOmittedSecrets(&old.Document.Suppliers[0])
		}
	case canonical.Buyers:
		if now := schema.FindByID(d.Buyers, ref.ID, func(b *schema.Buyer) string { return b.ID }); now != nil {
			now.KeepOmittedSecrets(&old.Document.Buyers[0])
		}
	}
}
