package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
)

// OperationDeprecation holds the header values in answers of a deprecated operation.
type OperationDeprecation struct {
	Method, Path string // path as in the document
	Deprecation  string // date of the deprecation (RFC 9745)
	Sunset       string // date of the removal (RFC 8594); empty if unknown
	Link         string // instructions for users
}

// ParseDeprecations returns the deprecated operations of a document. Each has deprecated: true, the
// dates x-deprecated and x-sunset, and externalDocs with instructions.
func ParseDeprecations(document []byte) (endings []OperationDeprecation, err error) {
	if !bytes.Contains(document, []byte("deprecated: true")) {
		return nil, nil // saves parsing the document at every start
	}
	var read struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(document, &read); err != nil {
		return nil, err
	}
	for path, operations := range read.Paths {
		for name, value := range operations {
			operation, _ := value.(map[string]any)
			if operation["deprecated"] != true {
				continue
			}
			ending, err := parseDeprecation(operation)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", name, path, err)
			}
			ending.Method, ending.Path = string(bytes.ToUpper([]byte(name))), path
			endings = append(endings, ending)
		}
	}
	return endings, nil
}

func parseDeprecation(operation map[string]any) (e OperationDeprecation, err error) {
	text := func(of map[string]any, key string) string {
		s, _ := of[key].(string)
		return s
	}
	since, err := time.Parse(time.DateOnly, text(operation, "x-deprecated"))
	if err != nil {
		return e, fmt.Errorf("x-deprecated must be the date of the deprecation: %w", err)
	}
	docs, _ := operation["externalDocs"].(map[string]any)
	if text(docs, "url") == "" {
		return e, fmt.Errorf("externalDocs must have a url with instructions")
	}
	e.Deprecation = "@" + strconv.FormatInt(since.Unix(), 10)
	e.Link = "<" + text(docs, "url") + `>; rel="deprecation"`
	if operation["x-sunset"] == nil {
		return e, nil
	}
	until, err := time.Parse(time.DateOnly, text(operation, "x-sunset"))
	if err != nil {
		return e, fmt.Errorf("x-sunset must be the date of the removal: %w", err)
	}
	if until.Before(since.AddDate(1, 0, 0)) {
		return e, fmt.Errorf("x-sunset must be at least twelve months after x-deprecated, as docs/versioning.md promises")
	}
	e.Sunset = until.Format(http.TimeFormat)
	return e, nil
}
