package report

// Lines are how something goes on, over places or time. Up to four share one picture; more get one each, all to the
// same scale.
type Lines struct {
	X, Y   Axis
	Series []Series
}

// Axis is what is told along one side.
type Axis struct {
	Name    string
	Seconds bool // the values are seconds, and shown as durations
}

// Series is one line.
type Series struct {
	Name   string
	Ours   bool
	Points []Point // in the order of X
}

// Point of a line. A Y that is no number is a gap.
type Point struct{ X, Y float64 }

// ByPlace are the points of values that are for the places 1, 2, 3 and so on.
func ByPlace(values []float64) []Point {
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{X: float64(i + 1), Y: v}
	}
	return points
}
