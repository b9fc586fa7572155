package adapter

import (
	"errors"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// escapeContext is the kind of position in a body at which the next text or value is written, for
// example inside a JSON string. It selects the escaping rule, so that a value cannot change the
// body's structure.
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

// contextAtBodyStart returns the context at the start of a body in this format. knownFormat is
// false for an unknown format.
func contextAtBodyStart(format string) (start escapeContext, knownFormat bool) {
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

// canEndBody reports whether a body may end in this context: not inside a string, a tag or a comment.
func (c escapeContext) canEndBody() bool {
	return c.isInJSONOutsideString() || c == formText || c == xmlText
}

// checkValueAllowed returns an error with the remedy if a template may not insert a value in this
// context.
func (c escapeContext) checkValueAllowed() error {
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

// appendEscapedValue appends the value v with the escaping of the context. An absent value becomes null
// where a JSON value is expected, and empty text elsewhere.
func (c escapeContext) appendEscapedValue(dst []byte, v market.FieldValue) []byte {
	switch c {
	case jsonValue:
		return v.AppendJSON(dst)
	case jsonText:
		return escape.AppendJSONEscapedWithoutQuotes(dst, v.Text)
	case formText:
		return escape.AppendFormEscaped(dst, v.Text)
	case xmlText, xmlSingle, xmlDouble:
		return escape.AppendXMLEscaped(dst, v.Text)
	}
	panic("BUG: the template inserts a value in a context that allows none")
}

// contextAfterValue returns the context behind a value that was inserted in context c. After a JSON
// value, a comma or a bracket must follow; all other contexts continue.
func (c escapeContext) contextAfterValue() escapeContext {
	if c == jsonValue {
		return jsonDone
	}
	return c
}

// canStartIfAction reports whether an if may begin in this context: where a value may be inserted,
// anywhere in JSON outside strings, and inside an XML tag.
func (c escapeContext) canStartIfAction() bool {
	return c.checkValueAllowed() == nil || c.isInJSONOutsideString() || c == xmlTag
}

// contextAfterText returns the context after a piece of the operator's text, which begins in context c.
// It returns an error if the text is not valid there.
func (c escapeContext) contextAfterText(text []byte) (escapeContext, error) {
	switch c {
	case jsonValue, jsonWord, jsonDone, jsonText, jsonEscape:
		return c.contextAfterJSON(text)
	case formText:
		return c, checkFormTextIsEscaped(text)
	}
	return c.contextAfterXML(text)
}
