package config

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

func (c *compiler) intIn(at place, value, least, most int) {
	if value < least || value > most {
		c.fail(at, "is out of range; give "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
}

func (c *compiler) sizeIn(at place, value, least, most Size) {
	if value < least || value > most {
		c.fail(at, fmt.Sprintf("is out of range; give %s to %s", least, most))
	}
}

func (c *compiler) spanIn(at place, value *Duration, least, most time.Duration) {
	if span := value.span(); span < least || span > most {
		c.fail(at, fmt.Sprintf("is out of range; give %s to %s", Duration(least), Duration(most)))
	}
}

// maxRate is the highest rate that can be asked for, a second.
const maxRate = 1_000_000

func (c *compiler) rate(at place, value int) { c.intIn(at, value, 1, maxRate) }

// label judges text that people read: one line of at most so many bytes.
func (c *compiler) label(at place, text string, most int) {
	if len(text) > most {
		c.fail(at, fmt.Sprintf("is over %d bytes; shorten it", most))
	}
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			c.fail(at, "holds a character that cannot be printed; remove it")
			return
		}
	}
}

const maxLabel = 200

// zone is the named time zone, or UTC where the name is none and reported.
func (c *compiler) zone(at place, name string) *time.Location {
	zone, known := c.zones[name]
	if !known {
		if name != "" && name != "Local" {
			zone, _ = time.LoadLocation(name)
		}
		c.zones[name] = zone
	}
	if zone == nil {
		c.fail(at, "is not a time zone; use a name of the IANA database, such as America/New_York or UTC")
		return time.UTC
	}
	return zone
}
