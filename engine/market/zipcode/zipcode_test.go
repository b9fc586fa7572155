package zipcode

import (
	"math"
	"slices"
	"testing"
)

func TestFindWithin(t *testing.T) {
	for _, test := range []struct {
		name         string
		center       string
		miles        float64
		with, others []string
	}{
		{"downtown Dallas", "75201", 1, []string{"75201", "75202"}, []string{"75204", "75039", "10001"}},
		{"Dallas without Fort Worth", "75201", 25, []string{"75202", "75039", "75001"}, []string{"76102", "77002"}},
		{"Dallas with Fort Worth", "75201", 35, []string{"75202", "76102"}, []string{"76701"}},
		{"across a state line", "66101", 5, []string{"64105", "66101"}, []string{"64082"}},
		{"leading zeros", "02108", 3, []string{"02108", "02139"}, []string{"02101", "01701"}},
		{"Puerto Rico", "00601", 20, []string{"00601", "00631"}, []string{"00901"}},
		{"only the center", "99723", 1, []string{"99723"}, []string{"99791"}},
	} {
		zips, known := FindWithin(test.center, test.miles*KilometersPerMile)
		if !known || !slices.IsSorted(zips) || !slices.Contains(zips, test.center) {
			t.Errorf("%s: %v, known: %t", test.name, zips, known)
		}
		for _, zip := range test.with {
			if !slices.Contains(zips, zip) {
				t.Errorf("%s: %s is missing", test.name, zip)
			}
		}
		for _, zip := range test.others {
			if slices.Contains(zips, zip) {
				t.Errorf("%s: %s is too far away", test.name, zip)
			}
		}
	}
}

// TestFindWithinUnknownCenter: a ZIP code of post boxes, such as 75221, has no area and so no centroid.
func TestFindWithinUnknownCenter(t *testing.T) {
	for _, center := range []string{"75221", "00000", "7520", "752011", "", "75201-1234"} {
		if zips, known := FindWithin(center, 100); known || zips != nil {
			t.Errorf("%q: %v", center, zips)
		}
	}
}

func TestCentroids(t *testing.T) {
	all := centroids()
	if len(all) != 33791 || len(packed) > 250_000 {
		t.Errorf("%d centroids in %d bytes", len(all), len(packed))
	}
	for i := range all {
		if i > 0 && all[i-1].zip >= all[i].zip || len(all[i].zip) != 5 {
			t.Errorf("entry %d: %s follows %s", i, all[i].zip, all[i-1].zip)
		}
	}
}

// TestFindWithinMatchesHaversine compares the chords of FindWithin with the haversine formula.
func TestFindWithinMatchesHaversine(t *testing.T) {
	all := centroids()
	angles := func(c *centroid) (latitude, longitude float64) { return math.Asin(c.z), math.Atan2(c.y, c.x) }
	for i := 0; i < len(all); i += 997 {
		for _, kilometers := range []float64{0.5, 40, 800} {
			zips, _ := FindWithin(all[i].zip, kilometers)
			var want []string
			latitude, longitude := angles(&all[i])
			for j := range all {
				otherLatitude, otherLongitude := angles(&all[j])
				h := math.Pow(math.Sin((otherLatitude-latitude)/2), 2) + math.Cos(latitude)*math.Cos(otherLatitude)*math.Pow(math.Sin((otherLongitude-longitude)/2), 2)
				if 2*earthRadius*math.Asin(math.Sqrt(h)) <= kilometers {
					want = append(want, all[j].zip)
				}
			}
			if !slices.Equal(zips, want) {
				t.Errorf("%s, %v km: %v, want %v", all[i].zip, kilometers, zips, want)
			}
		}
	}
}

func BenchmarkFindWithin(b *testing.B) {
	for b.Loop() {
		FindWithin("75201", 25*KilometersPerMile)
	}
}
