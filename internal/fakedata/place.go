package fakedata

import (
	"strings"

	"pingpost/engine/market"
)

// Place is a state with what lies in it. There is one for every state that the
// market knows.
type Place struct {
	State  string
	Weight int      // how often it comes among leads of the whole country, roughly as people live there
	Areas  []string // its area codes; no other place has them
	Towns  []Town
}

// Town is one ZIP code and whose it is.
type Town struct{ Name, Zip string }

// Places are all of them, in a fixed order. They are not to be changed.
func Places() []Place { return places }

// PlaceOf is a state's place. NoState has none, and asking for it is a mistake
// of the caller.
func PlaceOf(state market.State) *Place {
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

// Numbers of one area code that are kept for fiction: 555-0100 to 555-0199.
const fictionalLines = 100

// Numbers is how many phone numbers the place has to give.
func (p *Place) Numbers() int { return len(p.Areas) * fictionalLines }

// Phone is one of the place's numbers in E.164. Different turns give different
// numbers until all have come, and then the same again.
func (p *Place) Phone(turn int) string {
	line := fictionalLines + turn/len(p.Areas)%fictionalLines
	return "+1" + p.Areas[turn%len(p.Areas)] + "5550" + string([]byte{'0' + byte(line/100), '0' + byte(line/10%10), '0' + byte(line%10)})
}

// abroad tells whether mail goes there by way of the armed forces.
func (p *Place) abroad() bool { return p.State == "AA" || p.State == "AE" || p.State == "AP" }

func row(state string, weight int, areas, towns string) Place {
	p := Place{State: state, Weight: weight, Areas: strings.Fields(areas)}
	for text := range strings.SplitSeq(towns, ", ") {
		end := strings.LastIndexByte(text, ' ')
		p.Towns = append(p.Towns, Town{Name: text[:end], Zip: text[end+1:]})
	}
	return p
}
