// Writes the expected values of dates with moment, the library whose tokens the language uses. It is run by hand when
// a token is added, never by the tests:
//
//   npm install moment@2.31.0 moment-timezone@0.6.6 && node generate.js
//
// Every day of 2024 to 2028 in three time zones has one moment, at changing clock times, and the days around a change
// of clocks have some more. Three tables come out, tab-separated and compressed, each with its formats or patterns as the
// heading of a column:
//
//   tokens.tsv.gz    the value of every token
//   patterns.tsv.gz  the value of every date pattern, of weeks with each first day
//   formats.tsv      random formats of many tokens, brackets and backslashes, each with one moment and its value

const fs = require('fs'), zlib = require('zlib')
const moment = require('moment-timezone')

const zones = ['Europe/Oslo', 'America/New_York', 'Australia/Lord_Howe']

const tokens = `
  YYYYYY YYYYY YYYY YY Y yyyy yyy yy y yo Qo Q MMMM MMM MM Mo M DDDD DDDo DDD DD Do D dddd ddd dd do d e E
  GGGGG GGGG GG WW Wo W ggggg gggg gg ww wo w HH H hh h kk k mm m ss s
  SSSSSSSSS SSSSSSSS SSSSSSS SSSSSS SSSSS SSSS SSS SS S A a ZZ Z X x
  NNNNN NNNN NNN NN N LTS LT LLLL LLL LL L llll lll ll l Hmm Hmmss hmm hmmss
`.trim().split(/\s+/).concat(['YYYY-MM-DD', 'YYYY-MM', 'YYYY-MM-DD HHmm', '[Week] WW', 'GGGG-[W]WW-E', 'dddd, MMMM Do'])

// A small generator, so that the tables come out the same every time.
let seed = 20240101
const random = n => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 2147483648 * n) }

// Clock times that lie at the edges of tokens; the other days have random ones.
const edges = [[0, 0, 0, 0], [23, 59, 59, 999], [12, 0, 0, 0], [11, 59, 59, 999], [0, 59, 0, 1], [12, 30, 5, 70], [13, 5, 9, 10], [1, 0, 0, 0], [9, 9, 9, 9]]

function moments(zone) {
  const list = []
  let n = 0
  for (let day = moment.tz('2024-01-01T12:00', zone); day.year() < 2029; day.add(1, 'day'), n++) {
    const clock = n % 3 === 0 ? edges[n / 3 % edges.length] : [random(24), random(60), random(60), random(1000)]
    list.push(moment.tz([day.year(), day.month(), day.date(), ...clock], zone).valueOf())
    const start = day.clone().startOf('day'), end = day.clone().endOf('day')
    if (start.utcOffset() === end.utcOffset()) continue
    // A clock changes on this day: look at its first hours, and at those of the days beside it, from which patterns
    // reach into the hour that does not exist or exists twice.
    for (const day of [-1, 0, 1]) for (let t = 0; t < 12; t++) list.push(start.clone().add(day, 'day').valueOf() + t * 30 * 60000)
  }
  return list
}

const rows = []
for (const zone of zones) for (const at of moments(zone)) rows.push([zone, at])

function write(name, columns, lines) {
  const text = [['zone', 'ms', ...columns].join('\t'), ...lines.map(l => l.join('\t'))].join('\n') + '\n'
  fs.writeFileSync(name, name.endsWith('.gz') ? zlib.gzipSync(text, { level: 9 }) : text)
}

write('tokens.tsv.gz', tokens, rows.map(([zone, at]) => {
  const m = moment.tz(at, zone)
  return [zone, at, ...tokens.map(t => m.format(t))]
}))

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
days.forEach((day, first) => moment.defineLocale('en-' + day, { parentLocale: 'en', week: { dow: first, doy: 6 } }))
moment.locale('en')
const shift = { last: -1, this: 0, next: 1 }
const patterns = [
  ['today', m => m.format('YYYY-MM-DD')],
  ['yesterday', m => m.subtract(1, 'day').format('YYYY-MM-DD')],
  ['tomorrow', m => m.add(1, 'day').format('YYYY-MM-DD')],
  ['yesterday:dddd HH:mm:ss.SSS Z', m => m.subtract(1, 'day').format('dddd HH:mm:ss.SSS Z')],
  ['tomorrow:dddd HH:mm:ss.SSS Z', m => m.add(1, 'day').format('dddd HH:mm:ss.SSS Z')],
  ['day-name', m => m.format('dddd')],
  ['month-name', m => m.format('MMMM')],
  ['now', m => m.format('YYYY-MM-DD HHmm')],
]
for (const which of Object.keys(shift)) {
  patterns.push([which + '-month', m => m.startOf('month').add(shift[which], 'month').format('YYYY-MM')])
  patterns.push([which + '-month:MMMM Do, DDDD', m => m.startOf('month').add(shift[which], 'month').format('MMMM Do, DDDD')])
  days.forEach((day, first) => {
    const start = m => m.locale('en-' + day).startOf('week').add(shift[which], 'week').locale('en')
    patterns.push([which + '-week@' + day, m => start(m).format('YYYY-MM-DD')])
    patterns.push([which + '-week:GGGG-[W]WW ddd@' + day, m => start(m).format('GGGG-[W]WW ddd')])
  })
}

write('patterns.tsv.gz', patterns.map(p => p[0]), rows.map(([zone, at]) => [zone, at, ...patterns.map(p => p[1](moment.tz(at, zone)))]))

// Formats as people and machines might write them. A blank before every letter that is no token would hide what runs
// together, so tokens stand next to each other here.
const parts = [...tokens.slice(0, tokens.length - 6), 'o', 'f', 'r', 'G', 'g', '[', ']', '[a]', '[YYYY]', '[]', '[a] b]', '\\', '\\\\', '\\Y', '-', ' ', '/', ',', '.', 'T', 'æ', 'é', '日']
const formats = []
for (let i = 0; i < 4000; i++) {
  const [zone, at] = rows[random(rows.length)]
  let format = ''
  for (let n = 1 + random(7); n > 0; n--) format += parts[random(parts.length)]
  formats.push([zone, at, format, moment.tz(at, zone).format(format)])
}
write('formats.tsv', ['format', 'value'], formats.filter(f => f[3] !== '' || f[2] === '[]'))
