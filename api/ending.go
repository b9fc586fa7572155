package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
)

// Ending is what answers of a deprecated operation say, as the values of headers.
type Ending struct {
	Method, Path string // as the document has the path
	Deprecation  string // since when (RFC 9745)
	Sunset       string // until when (RFC 8594); empty where that is not known yet
	Link         string // to what is to be done
}

// Endings are those of a document: operations that it marks deprecated: true, with
// x-deprecated and x-sunset, days, and externalDocs with what to do.
func Endings(document []byte) (endings []Ending, err error) {
	if !bytes.Contains(document, []byte("deprecated: true")) {
		return nil, nil // which a start has not to read whole
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
			ending, err := endingOf(operation)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", name, path, err)
			}
			ending.Method, ending.Path = string(bytes.ToUpper([]byte(name))), path
			endings = append(endings, ending)
		}
	}
	return endings, nil
}

func endingOf(operation map[string]any) (e Ending, err error) {
	text := func(of map[string]any, key string) string {
		s, _ := of[key].(string)
		return s
	}
	since, err := time.Parse(time.DateOnly, text(operation, "x-deprecated"))
	if err != nil {
		return e, fmt.Errorf("x-deprecated is to be the day since which it is: %w", err)
	}
	docs, _ := operation["externalDocs"].(map[string]any)
	if text(docs, "url") == "" {
		return e, fmt.Errorf("externalDocs has no url that says what to do")
	}
	e.Deprecation = "@" + strconv.FormatInt(since.Unix(), 10)
	e.Link = "<" + text(docs, "url") + `>; rel="deprecation"`
	if operation["x-sunset"] == nil {
		return e, nil
	}
	until, err := time.Parse(time.DateOnly, text(operation, "x-sunset"))
	if err != nil {
		return e, fmt.Errorf("x-sunset is to be the day on which it ends: %w", err)
	}
	if until.Before(since.AddDate(1, 0, 0)) {
		return e, fmt.Errorf("x-sunset is less than twelve months after x-deprecated, which docs/versioning.md promises")
	}
	e.Sunset = until.Format(http.TimeFormat)
	return e, nil
}
