package fakedata

import (
	"strings"

	"pingpost/engine/market"
)

// USStateData is a US state or territory with its area codes and some of its towns. Every valid
// market.USState has one.
type USStateData struct {
	State string
	Areas []string // area codes of this state only
	Towns []Town
}

// Town is a town with one of its ZIP codes.
type Town struct{ Name, Zip string }

// AllUSStateData returns all states, always in the same order. The caller must not change them.
func AllUSStateData() []USStateData { return allUSStates }

// MustDataOfUSState returns the data of a state. It panics for market.NoState.
func MustDataOfUSState(state market.USState) *USStateData {
	at, ok := indexByStateCode[state.String()]
	if !ok {
		panic("BUG: no fake data for the state " + state.String())
	}
	return &allUSStates[at]
}

var indexByStateCode = func() map[string]int {
	at := make(map[string]int, len(allUSStates))
	for i := range allUSStates {
		at[allUSStates[i].State] = i
	}
	return at
}()

// fictionalLines is how many phone numbers of each area code are reserved for fiction: 555-0100
// to 555-0199. Made-up persons have only such numbers.
const fictionalLines = 100

// PhoneCount returns how many different phone numbers Phone can return.
func (p *USStateData) PhoneCount() int { return len(p.Areas) * fictionalLines }

// Phone returns one of the state's phone numbers, such as +13055550123. An index from 0 to
// PhoneCount-1 selects the number; larger ones repeat the same numbers.
func (p *USStateData) Phone(index int) string {
	line := fictionalLines + index/len(p.Areas)%fictionalLines
	return "+1" + p.Areas[index%len(p.Areas)] + "5550" + string([]byte{'0' + byte(line/100), '0' + byte(line/10%10), '0' + byte(line%10)})
}

// isMilitary reports whether the place is a postal area of the armed forces.
func (p *USStateData) isMilitary() bool { return p.State == "AA" || p.State == "AE" || p.State == "AP" }

// newUSStateData returns a place. areas has its area codes, separated by spaces. towns has towns with
// a ZIP code each, such as "Miami 33130", separated by commas.
func newUSStateData(state, areas, towns string) USStateData {
	p := USStateData{State: state, Areas: strings.Fields(areas)}
	for text := range strings.SplitSeq(towns, ", ") {
		end := strings.LastIndexByte(text, ' ')
		p.Towns = append(p.Towns, Town{Name: text[:end], Zip: text[end+1:]})
	}
	return p
}
