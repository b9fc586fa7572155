package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// variables are the names that a case may use as ${name}: those of the environment, such as
// ${api_key}, and those that its steps saved. A text that consists of one variable becomes the
// saved value of any kind; within a longer text it becomes its text.
//
// Some are computed at each use:
//
//	${unique}       a new unique name
//	${http +7}      seven seconds from now, as an HTTP date
//	${time -60}     a minute ago, as RFC 3339 with milliseconds
//	${epoch +0}     now, in seconds since 1970, as a number
//	${text 70000}   a text of that many characters
type variables map[string]any

var variable = regexp.MustCompile(`\$\{([a-z_0-9.]+)(?: ([+-]?[0-9]+))?\}`)

// fill returns a copy of the value with its variables replaced.
func (v variables) fill(value any) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		filled := make(map[string]any, len(value))
		for name, inner := range value {
			var err error
			if filled[name], err = v.fill(inner); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case []any:
		filled := make([]any, len(value))
		for i, inner := range value {
			var err error
			if filled[i], err = v.fill(inner); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case string:
		return v.fillText(value)
	}
	return value, nil
}

func (v variables) fillText(text string) (any, error) {
	if found := variable.FindStringSubmatch(text); len(found) > 0 && found[0] == text {
		return v.value(found[1], found[2])
	}
	var wrong error
	filled := variable.ReplaceAllStringFunc(text, func(one string) string {
		found := variable.FindStringSubmatch(one)
		value, err := v.value(found[1], found[2])
		if err != nil {
			wrong = err
		}
		return fmt.Sprint(value)
	})
	return filled, wrong
}

func (v variables) value(name, number string) (any, error) {
	n, _ := strconv.Atoi(number)
	then := time.Now().Add(time.Duration(n) * time.Second).UTC()
	switch name {
	case "unique":
		var some [8]byte
		_, _ = rand.Read(some[:]) // never fails
		return hex.EncodeToString(some[:]), nil
	case "http":
		return then.Format(http.TimeFormat), nil
	case "time":
		return then.Format("2006-01-02T15:04:05.000Z"), nil
	case "epoch":
		return decode([]byte(strconv.FormatInt(then.Unix(), 10)))
	case "text":
		return strings.Repeat("a", n), nil
	}
	if value, known := v[name]; known {
		return value, nil
	}
	if first, rest, deep := strings.Cut(name, "."); deep {
		if value, there := valueAt(v[first], rest); there {
			return value, nil
		}
	}
	return nil, fmt.Errorf("the variable ${%s} is not set", name)
}
