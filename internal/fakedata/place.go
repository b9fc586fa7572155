package fakedata

import (
	"strings"

	"pingpost/engine/market"
)

// Place is a state with its area codes and some of its towns. Every valid market.State has one.
type Place struct {
	State  string
	Weight int      // its share among leads of the whole country, roughly by population
	Areas  []string // area codes of this place only
	Towns  []Town
}

// Town is a town with one of its ZIP codes.
type Town struct{ Name, Zip string }

// Places returns all places in a fixed order. The caller must not change them.
func Places() []Place { return places }

// PlaceOf returns a state's place. It panics for NoState.
func PlaceOf(state market.USState) *Place {
	at, ok := placeOf[state.String()]
	if !ok {
		panic("BUG: no place for the state " + state.String())
	}
	return &places[at]
}

var placeOf = func() map[string]int {
	at := make(map[string]int, len(places))
	for i := range places {
		at[places[i].State] = i
	}
	return at
}()

// fictionalLines is the count of numbers in an area code that are reserved for fiction:
// 555-0100 to 555-0199.
const fictionalLines = 100

// PhoneCount returns the count of phone numbers that the place has.
func (p *Place) PhoneCount() int { return len(p.Areas) * fictionalLines }

// Phone returns one of the place's numbers in E.164 form. Indexes from 0 to PhoneCount-1 give
// different numbers; larger ones repeat them.
func (p *Place) Phone(index int) string {
	line := fictionalLines + index/len(p.Areas)%fictionalLines
	return "+1" + p.Areas[index%len(p.Areas)] + "5550" + string([]byte{'0' + byte(line/100), '0' + byte(line/10%10), '0' + byte(line%10)})
}

// isMilitary reports whether the place is a postal area of the armed forces.
func (p *Place) isMilitary() bool { return p.State == "AA" || p.State == "AE" || p.State == "AP" }

// newPlace parses a place: its area codes separated by spaces, and towns such as "Miami 33130"
// separated by commas.
func newPlace(state string, weight int, areas, towns string) Place {
	p := Place{State: state, Weight: weight, Areas: strings.Fields(areas)}
	for text := range strings.SplitSeq(towns, ", ") {
		end := strings.LastIndexByte(text, ' ')
		p.Towns = append(p.Towns, Town{Name: text[:end], Zip: text[end+1:]})
	}
	return p
}
