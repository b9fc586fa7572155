package strictjson

import "fmt"

// SyntaxError describes the first mistake in a JSON text. It quotes no part of the text, which
// may contain contact data or secrets.
type SyntaxError struct {
	Offset  int // bytes before the mistake
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Message) }

const (
	wantObject    = "the body must be one JSON object"
	wantName      = "a member's name in double quotes is expected"
	wantColon     = "a colon is expected after a member's name"
	wantNext      = "a comma, or the end of the object, is expected"
	wantElement   = "a comma, or the end of the array, is expected"
	wantValue     = "a value is expected"
	wantNoMore    = "unexpected text after the value"
	wantDigit     = "a digit is expected"
	leadingZero   = "a number must not begin with an unnecessary zero"
	longNumber    = "the number is too long"
	tooDeep       = "objects and arrays are nested too deep"
	tooLarge      = "the text is too large"
	textEnds      = "the text ends too early"
	rawControl    = "a control character in a string must be escaped"
	badEscape     = "JSON has no such escape"
	badUTF8       = "the text is not valid UTF-8"
	loneSurrogate = "the escape is half of a surrogate pair"
	repeated      = "the object has this member twice"
	repeatedCase  = "the object has this member twice; upper and lower case count as equal"
)
