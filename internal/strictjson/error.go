package strictjson

import "fmt"

// SyntaxError says what is wrong with a text and where. It never repeats a part
// of the text, which may hold a person or a secret.
type SyntaxError struct {
	Offset  int // bytes before the fault
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
	wantNoMore    = "nothing may follow the value"
	wantDigit     = "a digit is expected"
	leadingZero   = "a number must not begin with a superfluous zero"
	longNumber    = "the number is too long"
	tooDeep       = "objects and arrays are nested too deep"
	tooLarge      = "the text is too large"
	textEnds      = "the text ends too early"
	rawControl    = "a control character in a string must be escaped"
	badEscape     = "this escape is not one of JSON's"
	badUTF8       = "the text is not valid UTF-8"
	loneSurrogate = "the escape is half of a surrogate pair"
	repeated      = "the member is given twice"
	repeatedCase  = "the member is given twice, where the case of letters does not count"
)
