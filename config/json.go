package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// jsonReader walks a valid JSON text token by token and keeps count of lines.
type jsonReader struct {
	*reader
	decoder *json.Decoder
	data    []byte
	offset  int // where at stands
	at      position
}

// readJSON reads a text that json.Valid has passed.
func (r *reader) readJSON(data []byte) *node {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	j := &jsonReader{reader: r, decoder: decoder, data: data, at: position{1, 1}}
	return j.value("", 0)
}

// token is the next token and the position of its first character.
func (j *jsonReader) token() (json.Token, position) {
	start := int(j.decoder.InputOffset())
	for start < len(j.data) && strings.IndexByte(" \t\r\n,:", j.data[start]) >= 0 {
		start++
	}
	for _, c := range string(j.data[j.offset:start]) {
		if c == '\n' {
			j.at = position{j.at.line + 1, 1}
		} else {
			j.at.column++
		}
	}
	j.offset = start
	token, err := j.decoder.Token()
	if err != nil {
		panic("BUG: valid JSON does not decode: " + err.Error())
	}
	return token, j.at
}

func (j *jsonReader) value(path place, depth int) *node {
	token, at := j.token()
	switch t := token.(type) {
	case json.Delim:
		if depth >= maxDepth {
			j.fail(at, path, "nested deeper than 32 levels")
			j.skip()
			return &node{position: at, kind: nullKind}
		}
		if t == '{' {
			return j.mapping(at, path, depth+1)
		}
		return j.list(at, path, depth+1)
	case json.Number:
		return &node{position: at, kind: numberKind, text: t.String()}
	case string:
		return j.text(at, path, t)
	case bool:
		if t {
			return &node{position: at, kind: boolKind, text: "true"}
		}
		return &node{position: at, kind: boolKind, text: "false"}
	}
	return &node{position: at, kind: nullKind}
}

func (j *jsonReader) mapping(at position, path place, depth int) *node {
	n := &node{position: at, kind: mapKind}
	for j.decoder.More() {
		token, at := j.token()
		key, ok := token.(string)
		if !ok || !utf8.ValidString(key) {
			panic("BUG: a member of valid JSON has no name")
		}
		n.members = append(n.members, member{position: at, key: key, value: j.value(path.key(key), depth)})
	}
	j.token()
	return n
}

func (j *jsonReader) list(at position, path place, depth int) *node {
	n := &node{position: at, kind: listKind}
	for j.decoder.More() {
		n.items = append(n.items, j.value(path.at(len(n.items)), depth))
	}
	j.token()
	return n
}

// skip reads to the end of the mapping or list just begun.
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
