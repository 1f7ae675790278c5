package journal

// MaxAnswers is how many answers of a step are kept.
const MaxAnswers = maxAnswers
