"""What people are asked about screened questions: the third of the stages by which MDK12-Bench screens raw items (Data
Screening, Educator Filtering)."""

from mmdyn.sheets import Form

EDUCATORS_FORM = Form(
    "Can this question be asked as it stands?",
    {
        "curriculum": "it is what the subject and the grade teach",
        "answer": "the answer is right, and answers this question",
        "reasoning": "the explanation leads to the answer by sound steps",
        "format": "text, options, formulas and pictures are whole, readable and in their places",
    },
    refused=True,
)
