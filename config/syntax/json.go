package syntax

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// jsonReader reads a valid JSON text token by token and counts lines and columns.
type jsonReader struct {
	*Reader
	decoder *json.Decoder
	data    []byte
	offset  int // byte offset of at
	at      Position
}

// readJSON reads a text that json.Valid has passed.
func (r *Reader) readJSON(data []byte) *Node {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	j := &jsonReader{Reader: r, decoder: decoder, data: data, at: Position{1, 1}}
	return j.value("", 0)
}

// token returns the next token and the position of its first character.
func (j *jsonReader) token() (json.Token, Position) {
	start := int(j.decoder.InputOffset())
	for start < len(j.data) && strings.IndexByte(" \t\r\n,:", j.data[start]) >= 0 {
		start++
	}
	for _, c := range string(j.data[j.offset:start]) {
		if c == '\n' {
			j.at = Position{j.at.Line + 1, 1}
		} else {
			j.at.Column++
		}
	}
	j.offset = start
	token, err := j.decoder.Token()
	if err != nil {
		panic("BUG: valid JSON does not decode: " + err.Error())
	}
	return token, j.at
}

func (j *jsonReader) value(path Path, depth int) *Node {
	token, at := j.token()
	switch t := token.(type) {
	case json.Delim:
		if depth >= maxDepth {
			j.Report(at, path, "nested deeper than 32 levels")
			j.skip()
			return &Node{Position: at, Kind: Null}
		}
		if t == '{' {
			return j.mapping(at, path, depth+1)
		}
		return j.list(at, path, depth+1)
	case json.Number:
		return &Node{Position: at, Kind: Number, Text: t.String()}
	case string:
		return j.text(at, path, t)
	case bool:
		if t {
			return &Node{Position: at, Kind: Bool, Text: "true"}
		}
		return &Node{Position: at, Kind: Bool, Text: "false"}
	}
	return &Node{Position: at, Kind: Null}
}

func (j *jsonReader) mapping(at Position, path Path, depth int) *Node {
	n := &Node{Position: at, Kind: Mapping}
	for j.decoder.More() {
		token, at := j.token()
		key, ok := token.(string)
		if !ok || !utf8.ValidString(key) {
			panic("BUG: a member of valid JSON has no name")
		}
		n.Members = append(n.Members, Member{Position: at, Key: key, Value: j.value(path.Key(key), depth)})
	}
	j.token()
	return n
}

func (j *jsonReader) list(at Position, path Path, depth int) *Node {
	n := &Node{Position: at, Kind: List}
	for j.decoder.More() {
		n.Items = append(n.Items, j.value(path.Index(len(n.Items)), depth))
	}
	j.token()
	return n
}

// skip reads to the end of the mapping or list that began with the last token.
func (j *jsonReader) skip() {
	for open := 1; open > 0; {
		token, _ := j.token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
}
