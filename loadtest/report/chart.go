package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
)

// chart is a drawing of curves or of stacked layers.
type chart struct {
	label   string // description for screen readers
	x, y    scale
	series  []series
	layered bool // stack the series
	bands   []band
}

// series is one curve. NaN is a missing value and leaves a gap.
type series struct {
	name   string
	color  string // CSS class
	points [][2]float64
}

// band marks a range of the x axis.
type band struct {
	name     string
	from, to float64
	quiet    bool
}

// scale maps values to positions.
type scale struct {
	least, most float64
	log         bool
	ticks       []tick
}

type tick struct {
	at   float64
	text string
}

// part returns the position of a value, from 0 to 1.
func (s *scale) part(value float64) float64 {
	if s.log {
		value, least, most := math.Log(max(value, s.least)), math.Log(s.least), math.Log(s.most)
		return (value - least) / (most - least)
	}
	return (value - s.least) / (s.most - s.least)
}

// These are the sizes of the drawing in units of its view box.
const (
	wide, high           = 900.0, 270.0
	left, right, top, at = 62.0, 14.0, 22.0, 32.0 // margins; at: below
)

func (c *chart) px(x float64) float64 { return left + c.x.part(x)*(wide-left-right) }
func (c *chart) py(y float64) float64 { return high - at - c.y.part(y)*(high-top-at) }

// draw returns the chart as SVG.
func (c *chart) draw() template.HTML {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, wide, high, html.EscapeString(c.label))
	for i, b := range c.bands {
		from, to := c.px(max(b.from, c.x.least)), c.px(min(b.to, c.x.most))
		class := "band"
		if b.quiet {
			class = "band quiet"
		} else if i%2 == 1 {
			class = "band odd"
		}
		fmt.Fprintf(&out, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, from, top, max(0, to-from), high-top-at)
		fmt.Fprintf(&out, `<text class="bandname" x="%.1f" y="%.1f">%s</text>`, from+4, top-7, html.EscapeString(nameIfFits(b.name, to-from)))
	}
	for _, t := range c.y.ticks {
		y := c.py(t.at)
		fmt.Fprintf(&out, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			left, wide-right, y, y, left-7, y+4, t.text)
	}
	for _, t := range c.x.ticks {
		x := c.px(t.at)
		fmt.Fprintf(&out, `<line class="grid faint" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			x, x, top, high-at, x, high-at+18, t.text)
	}
	if c.layered {
		c.layers(&out)
	} else {
		for i := range c.series {
			c.curve(&out, &c.series[i])
		}
	}
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

// nameIfFits returns a name, or an empty string if it does not fit.
func nameIfFits(name string, width float64) string {
	if float64(len(name))*7+6 > width {
		return ""
	}
	return name
}

func (c *chart) curve(out *strings.Builder, s *series) {
	var path strings.Builder
	pen := "M"
	for _, p := range s.points {
		if math.IsNaN(p[1]) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, c.px(p[0]), c.py(p[1]))
		pen = "L"
	}
	fmt.Fprintf(out, `<path class="curve %s" d="%s"><title>%s</title></path>`, s.color, path.String(), html.EscapeString(s.name))
}

// layers draws each series on top of the sum of those before it.
func (c *chart) layers(out *strings.Builder) {
	if len(c.series) == 0 {
		return
	}
	base := make([]float64, len(c.series[0].points))
	for _, s := range c.series {
		var up, down strings.Builder
		for i, p := range s.points {
			below := base[i]
			if !math.IsNaN(p[1]) {
				base[i] += p[1]
			}
			pen := "L"
			if i == 0 {
				pen = "M"
			}
			fmt.Fprintf(&up, "%s%.1f %.1f", pen, c.px(p[0]), c.py(base[i]))
			back := fmt.Sprintf("L%.1f %.1f", c.px(p[0]), c.py(below))
			rest := down.String()
			down.Reset()
			down.WriteString(back + rest)
		}
		fmt.Fprintf(out, `<path class="layer %s" d="%s%sZ"><title>%s</title></path>`, s.color, up.String(), down.String(), html.EscapeString(s.name))
	}
}

// linearScale returns about five round numbers from 0 to most.
func linearScale(most float64, text func(float64) string) scale {
	step := 1.0
	if most > 0 {
		step = math.Pow(10, math.Floor(math.Log10(most/4)))
		for _, times := range []float64{5, 2} {
			if most/(step*times) >= 3.5 {
				step *= times
				break
			}
		}
	}
	s := scale{most: math.Max(math.Ceil(most/step), 1) * step}
	for i := 0; float64(i)*step <= s.most*1.0001; i++ {
		s.ticks = append(s.ticks, tick{float64(i) * step, text(float64(i) * step)})
	}
	return s
}

// logScale returns a logarithmic scale around positive values. It ends at 1, 2 or 5 times
// a power of ten.
func logScale(least, most float64, text func(float64) string) scale {
	if !(least > 0) || math.IsInf(least, 1) {
		least, most = 1, 10
	}
	s := scale{log: true}
	for exponent := math.Floor(math.Log10(least)); s.most == 0; exponent++ {
		for _, digit := range []float64{1, 2, 5} {
			value := digit * math.Pow(10, exponent)
			if value <= least*(1+1e-9) {
				s.least, s.ticks = value, nil // a larger value to start with
			}
			s.ticks = append(s.ticks, tick{value, text(value)})
			if value >= most*(1-1e-9) && len(s.ticks) > 2 {
				s.most = value
				break
			}
		}
	}
	if len(s.ticks) > 9 { // only powers of ten fit
		s.ticks = slices.DeleteFunc(s.ticks, func(t tick) bool {
			exponent := math.Log10(t.at)
			return math.Abs(exponent-math.Round(exponent)) >= 1e-9
		})
	}
	return s
}
