package schema

import (
	"slices"
	"strings"
)

// suggestRemedyForUnknownKey returns the remedy for an unknown key: a known key that contains it as a
// word, or one with nearly the same letters. Otherwise it lists all known keys. If there are more than
// 12, it names docs/configuration.md instead.
func suggestRemedyForUnknownKey(key string, known map[string]int) string {
	best, nearest := min(3, (len(key)+1)/2), ""
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	var longer []string
	if len(key) <= 64 {
		for _, name := range names {
			if slices.Contains(strings.Split(name, "_"), strings.ToLower(key)) {
				longer = append(longer, name)
			}
			if d := editDistance(strings.ToLower(key), name); d < best {
				best, nearest = d, name
			}
		}
	}
	switch {
	case len(longer) > 0:
		return "; is " + strings.Join(longer, " or ") + " meant?"
	case nearest != "":
		return "; is " + nearest + " meant?"
	case len(names) <= 12:
		return "; use one of " + strings.Join(names, ", ")
	}
	return "; remove it, or look for its name in docs/configuration.md"
}

// editDistance returns how many letters must be changed, inserted or deleted to turn a into
// b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(corner+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
