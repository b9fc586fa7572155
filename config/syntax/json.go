package syntax

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// jsonReader turns a valid JSON text into nodes, token by token, and tracks line and column
// for messages.
type jsonReader struct {
	*Reader
	decoder *json.Decoder
	data    []byte
	offset  int // byte offset of at
	at      Position
}

// readValidJSON returns the root node of a JSON text. The caller has checked with json.Valid that
// the text is valid.
func (r *Reader) readValidJSON(data []byte) (root *Node) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	j := &jsonReader{Reader: r, decoder: decoder, data: data, at: Position{1, 1}}
	return j.readValue("", 0)
}

// nextToken returns the next JSON token and the position of its first character.
func (j *jsonReader) nextToken() (json.Token, Position) {
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

func (j *jsonReader) readValue(path KeyPath, depth int) *Node {
	token, at := j.nextToken()
	switch t := token.(type) {
	case json.Delim:
		if depth >= maxDepth {
			j.AddMistake(at, path, "nested deeper than 32 levels")
			j.skipContainer()
			return &Node{Position: at, Kind: Null}
		}
		if t == '{' {
			return j.readMapping(at, path, depth+1)
		}
		return j.readList(at, path, depth+1)
	case json.Number:
		return &Node{Position: at, Kind: Number, Text: t.String()}
	case string:
		return j.newExpandedTextNode(at, path, t)
	case bool:
		if t {
			return &Node{Position: at, Kind: Bool, Text: "true"}
		}
		return &Node{Position: at, Kind: Bool, Text: "false"}
	}
	return &Node{Position: at, Kind: Null}
}

func (j *jsonReader) readMapping(at Position, path KeyPath, depth int) *Node {
	n := &Node{Position: at, Kind: Mapping}
	for j.decoder.More() {
		token, at := j.nextToken()
		key, ok := token.(string)
		if !ok || !utf8.ValidString(key) {
			panic("BUG: a member of valid JSON has no name")
		}
		n.Members = append(n.Members, Member{Position: at, Key: key, Value: j.readValue(path.Key(key), depth)})
	}
	j.nextToken()
	return n
}

func (j *jsonReader) readList(at Position, path KeyPath, depth int) *Node {
	n := &Node{Position: at, Kind: List}
	for j.decoder.More() {
		n.Items = append(n.Items, j.readValue(path.Index(len(n.Items)), depth))
	}
	j.nextToken()
	return n
}

// skipContainer reads to the end of the mapping or list that began with the last token.
func (j *jsonReader) skipContainer() {
	for open := 1; open > 0; {
		token, _ := j.nextToken()
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
}
