package adapter

import (
	"bytes"
	"errors"
	"regexp"
)

// xmlOpenings are the marks that end XML text, in the order in which readXMLTextUntilMarkup looks for
// them. The last one matches every other tag.
var xmlOpenings = []struct {
	mark string
	into escapeContext
}{{"<!--", xmlComment}, {"<![CDATA[", xmlCDATA}, {"<?", xmlProcessing}, {"<", xmlTag}}

// xmlClosings has the mark that ends each XML context, and the context after it.
var xmlClosings = map[escapeContext]struct {
	mark string
	into escapeContext
}{
	xmlComment: {"-->", xmlText}, xmlCDATA: {"]]>", xmlText}, xmlProcessing: {"?>", xmlText},
	xmlSingle: {"'", xmlTag}, xmlDouble: {`"`, xmlTag},
}

// contextAfterXML returns the escaping context after a piece of the operator's XML text, which
// begins in context c. It rejects an opening mark or a reference that a template action divides,
// because this program and the buyer would read it differently.
func (c escapeContext) contextAfterXML(text []byte) (escapeContext, error) {
	for len(text) > 0 {
		var err error
		switch c {
		case xmlText:
			c, text, err = readXMLTextUntilMarkup(text)
		case xmlTag:
			at := bytes.IndexAny(text, `>"'<`)
			if at < 0 {
				return c, nil
			}
			switch text[at] {
			case '>':
				c = xmlText
			case '"':
				c = xmlDouble
			case '\'':
				c = xmlSingle
			default:
				return 0, errors.New("an XML tag has no > before the next <; close the tag")
			}
			text = text[at+1:]
		default:
			closing := xmlClosings[c]
			inside, rest, closed := bytes.Cut(text, []byte(closing.mark))
			if c == xmlSingle || c == xmlDouble {
				err = checkXMLReferences(inside)
			}
			if text = rest; closed {
				c = closing.into
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return c, nil
}

// readXMLTextUntilMarkup reads text between tags up to the next mark, such as < or <!--. It returns the
// context after the mark, and the text after the mark.
func readXMLTextUntilMarkup(text []byte) (contextAfterMarkup escapeContext, restAfterMarkup []byte, err error) {
	at := bytes.IndexByte(text, '<')
	if at < 0 {
		return xmlText, nil, checkXMLReferences(text)
	}
	if err := checkXMLReferences(text[:at]); err != nil {
		return 0, nil, err
	}
	for _, opening := range xmlOpenings {
		if rest, ok := bytes.CutPrefix(text[at:], []byte(opening.mark)); ok {
			contextAfterMarkup, text = opening.into, rest
			break
		}
	}
	if contextAfterMarkup == xmlTag && !tagName.Match(text) {
		return 0, nil, errors.New("after < the template must have a tag name as plain text; write &lt; for the character <, and remove declarations (<!…>)")
	}
	return contextAfterMarkup, text, nil
}

var (
	tagName    = regexp.MustCompile(`^/?[A-Za-z_]`)
	references = regexp.MustCompile(`&(amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});`)
)

// checkXMLReferences returns an error unless each & in the text begins a complete reference, such as
// &amp;. A lead's value after an incomplete reference could complete it.
func checkXMLReferences(text []byte) error {
	if bytes.Count(text, []byte("&")) != len(references.FindAllIndex(text, -1)) {
		return errors.New("& begins an unknown or incomplete XML reference; write &amp; for the character &")
	}
	return nil
}
