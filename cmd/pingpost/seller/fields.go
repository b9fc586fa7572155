package seller

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const fieldsHelp = `A VALUE that is true, false or a number is sent as such, unless the field is known
to be text, such as zip. NAME:=JSON sends the JSON as written, so NAME:='"12"' is a
text. A dot in a NAME sets a member of an object. A later field replaces an earlier
one. Flags may precede, follow or separate the fields.`

// rawFieldArgsAmongFlags are the command-line arguments that are not flags, such as state=CA. Flags may
// precede, follow or separate them.
type rawFieldArgsAmongFlags []string

// Decode takes the fields from the remaining arguments of the command line and returns the
// flags to kong's parser. Without this, kong would end a list of arguments at the first flag.
// Every flag of these commands except --help has a value.
func (f *rawFieldArgsAmongFlags) Decode(ctx *kong.DecodeContext) error {
	var flags []kong.Token
	for !ctx.Scan.Peek().IsEOL() {
		token := ctx.Scan.Pop()
		text := token.String()
		switch {
		case token.IsValue():
			*f = append(*f, text)
		case text == "--":
			for !ctx.Scan.Peek().IsEOL() {
				*f = append(*f, ctx.Scan.Pop().String())
			}
		default:
			flags = append(flags, token)
			if !strings.Contains(text, "=") && text != "--help" && text != "-h" && !ctx.Scan.Peek().IsEOL() {
				flags = append(flags, ctx.Scan.Pop())
			}
		}
	}
	for _, token := range slices.Backward(flags) {
		ctx.Scan.PushToken(token)
	}
	return nil
}

// maxFieldFile bounds a file of fields; no exchange takes a body as large.
const maxFieldFile = 1 << 20

// parseRequestFields returns the JSON members of a request body that the arguments give. An argument
// "-" reads more of them from standardInput.
func parseRequestFields(args []string, standardInput io.Reader) (map[string]any, error) {
	fields := map[string]any{}
	for _, arg := range args {
		var err error
		switch name, value, ok := strings.Cut(arg, "="); {
		case arg == "-":
			err = readAndMergeJSONFields(fields, "standard input", standardInput)
		case strings.HasPrefix(arg, "@"):
			err = mergeFieldsFromFile(fields, arg[1:])
		case !ok || strings.Trim(name, ":") == "":
			err = fmt.Errorf("%q is not a field; write NAME=VALUE, NAME:=JSON, @FILE or -", arg)
		case strings.HasSuffix(name, ":"):
			if !json.Valid([]byte(value)) {
				return nil, fmt.Errorf("the value of %[1]s:= is not JSON; write %[1]s=VALUE for a text", name[:len(name)-1])
			}
			err = setField(fields, name[:len(name)-1], json.RawMessage(value))
		default:
			err = setField(fields, name, guessJSONValue(name, value))
		}
		if err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// mergeFieldsFromFile reads a file with a JSON object and adds its members to fields.
func mergeFieldsFromFile(fields map[string]any, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return readAndMergeJSONFields(fields, path, file)
}

// readAndMergeJSONFields reads a JSON object from in and adds its members to fields. sourceName
// names the source in messages.
func readAndMergeJSONFields(fields map[string]any, sourceName string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxFieldFile+1))
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", sourceName, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%s is empty; it must have a JSON object (pingpost ping writes one only after a successful answer)", sourceName)
	}
	if len(text) > maxFieldFile {
		return fmt.Errorf("%s is over 1 MB, which no exchange accepts as a body", sourceName)
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // digits as they are written
	if err := decoder.Decode(&members); err != nil || members == nil {
		return fmt.Errorf("%s is not one JSON object", sourceName)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s has text after its JSON object; give one object only", sourceName)
	}
	mergeObjects(fields, members)
	return nil
}

// mergeObjects copies the members of one object into another and replaces values of the same
// name. Two objects of the same name are merged recursively.
func mergeObjects(into, members map[string]any) {
	for name, value := range members {
		inner, ok := value.(map[string]any)
		if old, both := into[name].(map[string]any); ok && both {
			mergeObjects(old, inner)
		} else {
			into[name] = value
		}
	}
}

// setField sets the value at a path such as lead.email in fields, and creates missing objects
// on the way.
func setField(fields map[string]any, dottedPath string, value any) error {
	for {
		name, rest, deeper := strings.Cut(dottedPath, ".")
		if name == "" {
			return fmt.Errorf("a field has no name before or after a dot; write for example lead.email=ann@example.com")
		}
		if !deeper {
			fields[name] = value
			return nil
		}
		inner, ok := fields[name].(map[string]any)
		if _, other := fields[name]; other && !ok {
			return fmt.Errorf("field %s is given both as a value and as an object", name)
		}
		if !ok {
			inner = map[string]any{}
			fields[name] = inner
		}
		fields, dottedPath = inner, rest
	}
}

// hasField reports whether fields has a value at a path such as lead.email.
func hasField(fields map[string]any, dottedPath string) bool {
	name, rest, deeper := strings.Cut(dottedPath, ".")
	value, ok := fields[name]
	if !deeper {
		return ok
	}
	inner, _ := value.(map[string]any)
	return hasField(inner, rest)
}

// textFields are fields whose values look like numbers but are texts.
var textFields = map[string]bool{
	"zip": true, "zip3": true, "phone": true, "auction_id": true, "bid_token": true, "lead_uuid": true, "source": true,
	"first_name": true, "last_name": true, "line1": true, "city": true, "consent_text": true, "sub_vertical": true, "vertical": true,
}

// guessJSONValue returns the JSON value for a field's text from the command line. It is a
// number or a boolean if the text looks like one, unless the field is known to be text.
func guessJSONValue(fieldName, text string) any {
	if textFields[fieldName[strings.LastIndexByte(fieldName, '.')+1:]] || text == "" {
		return text
	}
	number := strings.IndexByte("-0123456789", text[0]) >= 0 && json.Valid([]byte(text))
	if number || text == "true" || text == "false" {
		return json.RawMessage(text)
	}
	return text
}
