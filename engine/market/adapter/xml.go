package adapter

import (
	"bytes"
	"errors"
	"regexp"
)

// xmlOpenings are tried in this order; the last is any other tag.
var xmlOpenings = []struct {
	mark string
	into context
}{{"<!--", xmlComment}, {"<![CDATA[", xmlCDATA}, {"<?", xmlProcessing}, {"<", xmlTag}}

var xmlClosings = map[context]struct {
	mark string
	into context
}{
	xmlComment: {"-->", xmlText}, xmlCDATA: {"]]>", xmlText}, xmlProcessing: {"?>", xmlText},
	xmlSingle: {"'", xmlTag}, xmlDouble: {`"`, xmlTag},
}

// afterXML follows the author's text from mark to mark. It rejects a mark that an action
// divides, because this program and the reader of the body would interpret it differently.
func (c context) afterXML(text []byte) (context, error) {
	for len(text) > 0 {
		var err error
		switch c {
		case xmlText:
			c, text, err = afterXMLText(text)
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
				return 0, errors.New("a tag is not closed before the next one begins")
			}
			text = text[at+1:]
		default:
			closing := xmlClosings[c]
			inside, rest, closed := bytes.Cut(text, []byte(closing.mark))
			if c == xmlSingle || c == xmlDouble {
				err = checkReferences(inside)
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

func afterXMLText(text []byte) (c context, rest []byte, err error) {
	at := bytes.IndexByte(text, '<')
	if at < 0 {
		return xmlText, nil, checkReferences(text)
	}
	if err := checkReferences(text[:at]); err != nil {
		return 0, nil, err
	}
	for _, opening := range xmlOpenings {
		if rest, ok := bytes.CutPrefix(text[at:], []byte(opening.mark)); ok {
			c, text = opening.into, rest
			break
		}
	}
	if c == xmlTag && !tagName.Match(text) {
		return 0, nil, errors.New("a tag's name stands behind its <, as text; < itself is written &lt;, and declarations (<!…>) not at all")
	}
	return c, text, nil
}

var (
	tagName    = regexp.MustCompile(`^/?[A-Za-z_]`)
	references = regexp.MustCompile(`&(amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});`)
)

// checkReferences wants every & to begin a reference that ends in the same
// text, or a value could finish it.
func checkReferences(text []byte) error {
	if bytes.Count(text, []byte("&")) != len(references.FindAllIndex(text, -1)) {
		return errors.New("& begins a reference that XML does not have or that is not whole; & itself is written &amp;")
	}
	return nil
}
