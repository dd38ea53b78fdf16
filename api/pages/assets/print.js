// Shows the print buttons. Without scripts they stay hidden, since they would do nothing.
for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => window.print())
}
