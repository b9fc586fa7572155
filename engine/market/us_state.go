package market

import "fmt"

// USState is a two-letter code of the US postal service: a state, the District
// of Columbia, a territory, or the armed forces abroad. The zero USState means no state.
type USState uint8

// NoState means that the state is unknown.
const NoState USState = 0

// stateCodes holds the two letters of each state. A USState is the state's position here, from 1.
// The log contains the letters, so the order may change.
const stateCodes = "AAAEAKALAPARASAZCACOCTDCDEFLGAGUHIIAIDILINKSKYLAMAMDMEMIMNMOMPMSMTNCNDNENHNJNMNVNYOHOKORPAPRRISCSDTNTXUTVAVIVTWAWIWVWY"

// stateCount is the number of codes.
const stateCount = len(stateCodes) / 2

// stateTable holds the USState of each code of two letters, each letter counted from A.
var stateTable = func() (table [26][26]USState) {
	for i := range stateCount {
		table[stateCodes[2*i]-'A'][stateCodes[2*i+1]-'A'] = USState(i + 1)
	}
	return table
}()

// ParseUSStateCode returns the state with this code of two capital letters, or NoState for any other
// text.
func ParseUSStateCode(text []byte) USState {
	if len(text) != 2 {
		return NoState
	}
	first, second := text[0]-'A', text[1]-'A' // below A wraps past 25
	if first > 25 || second > 25 {
		return NoState
	}
	return stateTable[first][second]
}

// parseUSStateCodeIgnoringCase returns the state with this code of two letters in any case, or NoState.
func parseUSStateCodeIgnoringCase(text []byte) USState {
	if len(text) != 2 {
		return NoState
	}
	const caseBit = 'a' - 'A'
	return ParseUSStateCode([]byte{text[0] &^ caseBit, text[1] &^ caseBit})
}

// stateCodeText has the bytes of stateCodes.
var stateCodeText = []byte(stateCodes)

// codeText returns the state's two-letter code as the text of a lead's value, or nil for NoState. The text
// is read only.
func (s USState) codeText() []byte {
	if s == NoState {
		return nil
	}
	return stateCodeText[2*s-2 : 2*s : 2*s]
}

// String returns the state's two-letter code. It is empty for NoState.
func (s USState) String() string {
	if s == NoState || int(s) > stateCount {
		return ""
	}
	return stateCodes[2*s-2 : 2*s]
}

// USStateSet is a set of states, with one bit for each. NoState is never in it.
type USStateSet uint64

// AllStates holds every state.
const AllStates USStateSet = (1<<stateCount - 1) << 1

// Has reports whether the state is in the set.
func (s USStateSet) Has(state USState) bool { return s>>state&1 == 1 }

// Codes returns the two-letter codes of the states in the set, in alphabetical order.
func (s USStateSet) Codes() (codes []string) {
	for state := range USState(stateCount + 1) {
		if s.Has(state) {
			codes = append(codes, state.String())
		}
	}
	return codes
}

// WithState returns a set with the states of s and state.
func (s USStateSet) WithState(state USState) USStateSet { return (s | 1<<state) & AllStates }

// ParseUSStatesOrAll returns the set of the configured state codes. An empty list gives AllStates,
// because a buyer or a filter set without states accepts all.
func ParseUSStatesOrAll(codes []string) (USStateSet, error) {
	if len(codes) == 0 {
		return AllStates, nil
	}
	var set USStateSet
	for _, code := range codes {
		state := ParseUSStateCode([]byte(code))
		if state == NoState {
			return 0, fmt.Errorf("%q is not a state: give the two capital letters of the US postal service, such as CA", code)
		}
		if set.Has(state) {
			return 0, fmt.Errorf("state %s is listed twice", code)
		}
		set = set.WithState(state)
	}
	return set, nil
}
