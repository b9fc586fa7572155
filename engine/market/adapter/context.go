package adapter

import (
	"errors"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// escapeContext is the kind of place in a body where the next text or value goes. It
// selects the escaping rule, which keeps a value from changing the body's structure.
type escapeContext uint8

const (
	jsonValue  escapeContext = iota + 1 // at the start of a value
	jsonWord                            // inside a number or a word
	jsonDone                            // after a value
	jsonText                            // inside a string
	jsonEscape                          // after a backslash inside a string
	formText                            // in a name or a value of a form
	xmlText                             // between tags
	xmlTag                              // inside a tag, outside of its quotes
	xmlSingle                           // inside an attribute in '
	xmlDouble                           // inside an attribute in "
	xmlComment
	xmlCDATA
	xmlProcessing // <? … ?>
)

// initialContext returns the context at the start of a body.
func initialContext(format string) (start escapeContext, ok bool) {
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

// canEnd reports whether a body may end here.
func (c escapeContext) canEnd() bool { return c.isOutsideJSONString() || c == formText || c == xmlText }

// checkInsertion returns an error if the template may not insert a value here.
func (c escapeContext) checkInsertion() error {
	switch c {
	case jsonWord, jsonDone:
		return errJSONRun
	case jsonEscape:
		return errors.New("a value after a backslash would become part of the escape; remove the backslash")
	case xmlTag:
		return errors.New("a value inside a tag must be in an attribute's quotes; quote it")
	case xmlComment, xmlCDATA, xmlProcessing:
		return errors.New("a value is not allowed in a comment, in CDATA or in <? ?>; write it as the text of an element")
	}
	return nil
}

// appendValue appends a value, escaped for its place. An absent value is null in place of
// a JSON value, and empty everywhere else.
func (c escapeContext) appendValue(dst []byte, v market.Value) []byte {
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
	panic("BUG: the template inserts a value in a context that allows none")
}

// afterValue returns the context after an inserted value.
func (c escapeContext) afterValue() escapeContext {
	if c == jsonValue {
		return jsonDone
	}
	return c
}

// canStartIf reports whether an if may begin here: in every place for a value, and in
// those where it divides no token.
func (c escapeContext) canStartIf() bool {
	return c.checkInsertion() == nil || c.isOutsideJSONString() || c == xmlTag
}

// afterText returns the context after a text of the template's author.
func (c escapeContext) afterText(text []byte) (escapeContext, error) {
	switch c {
	case jsonValue, jsonWord, jsonDone, jsonText, jsonEscape:
		return c.afterJSON(text)
	case formText:
		return c, checkFormText(text)
	}
	return c.afterXML(text)
}
