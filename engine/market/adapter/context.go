package adapter

import (
	"errors"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// context is a place in a body, as far as its author's text has come. It says
// how a value is written there, and is the reason why none can leave its place.
type context uint8

const (
	jsonValue  context = iota + 1 // where a value begins
	jsonWord                      // inside a number or a word
	jsonDone                      // behind a value
	jsonText                      // inside a string
	jsonEscape                    // behind a backslash inside a string
	formText                      // names and values of a form alike
	xmlText                       // between tags
	xmlTag                        // inside a tag, outside of its quotes
	xmlSingle                     // inside an attribute in '
	xmlDouble                     // inside an attribute in "
	xmlComment
	xmlCDATA
	xmlProcessing // <? … ?>
)

// contextOf is where a body of the format begins.
func contextOf(format string) (start context, ok bool) {
	switch format {
	case market.FormatJSON:
		return jsonValue, true
	case market.FormatForm:
		return formText, true
	case market.FormatXML:
		return xmlText, true
	}
	return 0, false
}

// ends tells whether a body may end here.
func (c context) canEnd() bool { return c.outsideJSONText() || c == formText || c == xmlText }

// takes tells whether a value may stand here, and why not.
func (c context) checkInsertion() error {
	switch c {
	case jsonWord, jsonDone:
		return errJSONRun
	case jsonEscape:
		return errors.New("a value behind a backslash would be read as an escape; remove the backslash")
	case xmlTag:
		return errors.New("a value inside a tag stands in an attribute's quotes, or not at all; quote it")
	case xmlComment, xmlCDATA, xmlProcessing:
		return errors.New("a value cannot stand in a comment, in CDATA or in <? ?>; write it as the text of an element")
	}
	return nil
}

// insert writes a value. One that is absent is null as a JSON value, and empty
// everywhere else.
func (c context) insert(dst []byte, v market.Value) []byte {
	switch c {
	case jsonValue:
		return v.AppendJSON(dst)
	case jsonText:
		return escape.AppendJSONText(dst, v.Text)
	case formText:
		return escape.AppendFormText(dst, v.Text)
	case xmlText, xmlSingle, xmlDouble:
		return escape.AppendXMLText(dst, v.Text)
	}
	panic("BUG: a value in a place that takes none")
}

// behind is the context after a value was written.
func (c context) afterValue() context {
	if c == jsonValue {
		return jsonDone
	}
	return c
}

// branches tells whether an if may begin here: where a value may stand, and
// wherever nothing is cut in two by it.
func (c context) canBranch() bool {
	return c.checkInsertion() == nil || c.outsideJSONText() || c == xmlTag
}

// after is the context behind a stretch of the author's text.
func (c context) after(text []byte) (context, error) {
	switch c {
	case jsonValue, jsonWord, jsonDone, jsonText, jsonEscape:
		return c.afterJSON(text)
	case formText:
		return c, checkForm(text)
	}
	return c.afterXML(text)
}
