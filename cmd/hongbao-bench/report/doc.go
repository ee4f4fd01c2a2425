// Package report writes results as one page: charts, verdicts, tables, the hardware and the command.
//
// It must always hold: the page is one file without external resources and scripts, so that it looks the same in ten years.
// Every figure of a chart is in a table too. No measured text can become markup.
package report
