package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// checkUnique reports a mistake and returns false if the name is already in pathsByName, the
// names of the same list with their paths. Otherwise it adds the name.
func (c *compiler) checkUnique(at syntax.KeyPath, pathsByName map[string]syntax.KeyPath, name string) (isUnique bool) {
	first, twice := pathsByName[name]
	if twice {
		c.reportMistake(at, "is the same as "+string(first)+"; remove one of them")
		return false
	}
	pathsByName[name] = at
	return true
}

// checkOneOf reports a mistake and returns false if the value is not one of the choices.
func (c *compiler) checkOneOf(at syntax.KeyPath, value string, choices ...string) (valid bool) {
	for _, choice := range choices {
		if value == choice {
			return true
		}
	}
	c.reportMistake(at, "unknown value; use "+strings.Join(choices, ", "))
	return false
}

// quoteShortened returns a name in quotes for a message, cut after maxID bytes.
func quoteShortened(name string) string {
	if len(name) > maxID {
		name = name[:maxID]
	}
	return strconv.Quote(name)
}

const maxID = 64

// checkID reports a mistake and returns false unless the id has 1 to 64 characters of A-Z a-z
// 0-9 _ - and dot.
func (c *compiler) checkID(at syntax.KeyPath, id string) (valid bool) {
	switch {
	case id == "":
		c.reportMistake(at, "is missing; give 1 to 64 letters, digits, _, - or .")
		return false
	case len(id) > maxID || strings.ContainsFunc(id, isNotIDCharacter):
		c.reportMistake(at, "is not an id; use 1 to 64 letters, digits, _, - or .")
		return false
	}
	return true
}

func isNotIDCharacter(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '.')
}

// checkIntRange reports a mistake if the value is below least or above most.
func (c *compiler) checkIntRange(at syntax.KeyPath, value, least, most int) {
	if value < least || value > most {
		c.reportMistake(at, "is out of range; give "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
}

func (c *compiler) checkSizeRange(at syntax.KeyPath, value, least, most schema.ByteSize) {
	if value < least || value > most {
		c.reportMistake(at, fmt.Sprintf("is out of range; give %s to %s", least, most))
	}
}

func (c *compiler) checkDurationRange(at syntax.KeyPath, value *schema.Duration, least, most time.Duration) {
	if span := value.OrZero(); span < least || span > most {
		c.reportMistake(at, fmt.Sprintf("is out of range; give %s to %s", schema.Duration(least), schema.Duration(most)))
	}
}

func (c *compiler) checkRatePerSecond(at syntax.KeyPath, value int) {
	c.checkIntRange(at, value, 1, schema.MaxRate)
}

// checkPrintableText reports a mistake if a text for people is longer than maxBytes or has a
// character that cannot be printed, such as a line break.
func (c *compiler) checkPrintableText(at syntax.KeyPath, text string, maxBytes int) {
	if len(text) > maxBytes {
		c.reportMistake(at, fmt.Sprintf("is longer than %d bytes; shorten it", maxBytes))
	}
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			c.reportMistake(at, "contains a character that cannot be printed; remove it")
			return
		}
	}
}

const maxLabel = 200

// loadTimeZoneOrUTC returns the time zone with this name. It reports an unknown name, and then
// returns UTC.
func (c *compiler) loadTimeZoneOrUTC(at syntax.KeyPath, name string) *time.Location {
	zone, known := c.zones[name]
	if !known {
		if name != "" && name != "Local" {
			zone, _ = time.LoadLocation(name)
		}
		c.zones[name] = zone
	}
	if zone == nil {
		c.reportMistake(at, "is not a time zone; give an IANA name, such as America/New_York or UTC")
		return time.UTC
	}
	return zone
}
