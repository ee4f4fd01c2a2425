// Package meter measures the work on the path of a grab: how long it takes, how much is done at once, and how much waits.
//
// It owns histograms, and the types in which engines report their figures. It must always hold: a measurement takes no lock and
// allocates nothing. Only a scrape of the metrics adds figures up.
package meter
